// On every page below /docs: the search, the menu on narrow screens, and samples that are ready to use.

// Prevents Swagger UI from taking over links and the browser history; it reads this when it loads.
globalThis.noZensmooth = true;

const element = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

const dialog = document.querySelector('dialog.search');
const [field, close, list, status] = dialog.children;
/** Of all that can be found; loaded by the first search. */
let index;

async function load() {
  const [{ default: MiniSearch }, answer] = await Promise.all([
    import('/docs/minisearch.js'),
    fetch('/docs/search.json'),
  ]);
  const entries = await answer.json();
  // All words, the beginning of one, or one with a typo; titles first.
  const made = new MiniSearch({
    fields: ['title', 'words', 'text'],
    storeFields: ['title', 'kind', 'text', 'href'],
    // The name of an error code is one word.
    tokenize: (text) => text.split(/[^\p{L}\p{N}_]+/u),
    searchOptions: {
      boost: { title: 8, words: 2 },
      // Who looks for a concept wants its guide first.
      boostDocument: (_id, _term, { kind }) => (kind === 'Guide' ? 3 : 1),
      combineWith: 'AND',
      prefix: true,
      fuzzy: (term) => (term.length > 4 ? 1 : 0),
    },
  });
  made.addAll(entries.map((entry, id) => ({ id, ...entry })));
  index = made;
}

/** An excerpt around the first word, in whole words. */
function excerpt(text, phrase) {
  const found = text.toLowerCase().indexOf(phrase.trim().toLowerCase().split(/\s+/)[0]);
  const start = found > 50 ? text.indexOf(' ', found - 50) + 1 : 0;
  const end = text.length > start + 140 ? text.lastIndexOf(' ', start + 140) : text.length;
  return `${start > 0 ? '… ' : ''}${text.slice(start, end)}${end < text.length ? ' …' : ''}`;
}

function show() {
  if (!index) {
    return;
  }
  const found = index.search(field.value).slice(0, 30);
  list.replaceChildren(
    ...found.map(({ title, kind, text, href }) => {
      const label = [element('strong', {}, title), element('small', {}, kind)];
      return element(
        'li',
        {},
        element('a', { href }, ...label, element('span', {}, excerpt(text, field.value))),
      );
    }),
  );
  status.textContent =
    field.value.trim() && found.length === 0 ? `Nothing found for “${field.value.trim()}”.` : '';
}

async function open() {
  dialog.showModal();
  field.select();
  if (!index) {
    await load();
    show();
  }
}

document.querySelector('.find').addEventListener('click', open);
close.addEventListener('click', () => dialog.close());
field.addEventListener('input', show);
addEventListener('keydown', (event) => {
  if (event.key === 'k' && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    open();
  }
});
dialog.addEventListener('keydown', (event) => {
  const stops = [field, ...list.querySelectorAll('a')];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    event.preventDefault();
    // In the field, the first result is the one that Enter opens, so the next is the second.
    const from = stops.indexOf(document.activeElement) || (step === 1 ? 1 : 0);
    stops.at((from + step) % stops.length).focus();
  } else if (event.key === 'Enter' && document.activeElement === field) {
    stops[1]?.click();
  } else if (event.key === 'Escape') {
    // By default, Escape only clears a search field.
    event.preventDefault();
    dialog.close();
  }
});

// A link to the current page does not close the menu and the search by itself.
addEventListener('click', ({ target }) => {
  if (target.closest('dialog.search a, nav a')) {
    dialog.close();
    document.querySelector('nav:popover-open')?.hidePopover();
  }
});

/** The samples contain the address of a local service. */
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
  texts.currentNode.data = texts.currentNode.data.replaceAll('http://127.0.0.1:3000', location.origin);
}

// A wide one can be scrolled with the keyboard.
document.querySelectorAll('main pre').forEach((block) => (block.tabIndex = 0));

for (const code of document.querySelectorAll('main :is(.language-sh, .language-js)')) {
  const copy = element('button', { type: 'button', className: 'copy' }, 'Copy');
  copy.addEventListener('click', () => {
    // Also works without TLS, where navigator.clipboard is missing.
    getSelection().selectAllChildren(code);
    document.execCommand('copy');
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy'), 2_000);
  });
  code.parentElement.append(copy);
}
