//! Wire types of the Container Storage Interface; filled when volumes arrive.
