// Colours the words of our language in code that has a `lifecycle!`: to highlight.js that is Rust, which knows a macro's arguments only as tokens.
(() => {
    const words = /(?<![.\w])(adopt|always|apply|call|clock|condition|create|delete|effects|fact|facts|goal|observe|otherwise|owned|part|poll|probe|promise|promises|ready|record|resource|retain|shared|states|status|teardown|transitions|volume|wakes|when)(?![\w(:])/;
    for (const code of document.querySelectorAll("pre code.language-rust")) {
        if (!/\blifecycle! *\{/.test(code.textContent)) continue;
        const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT, node =>
            node.parentElement.closest("[class^=hljs-]") ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
        const found = [];
        while (texts.nextNode()) found.push(texts.currentNode);
        for (const text of found) {
            // A capturing group keeps the words: each second part is one.
            text.replaceWith(...text.data.split(words).map((part, at) => {
                if (at % 2 === 0) return part;
                const word = document.createElement("span");
                word.className = "hljs-keyword";
                word.textContent = part;
                return word;
            }));
        }
    }
})();
