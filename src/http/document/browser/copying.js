// The only script of the guides: adds a button that copies the text to each block of code, and to each text that is the
// content of a file.
for (const code of document.querySelectorAll(
  'pre > code:not(.language-http, .language-text:not([data-name]))',
)) {
  const copy = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' });
  copy.addEventListener('click', () => {
    // Without TLS, browsers have no `navigator.clipboard`. So select the text and copy the selection.
    getSelection().selectAllChildren(code);
    document.execCommand('copy');
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy'), 2_000);
  });
  code.parentElement.append(copy);
}
