// The one thing on a guide that needs a script: a button that copies a block.
for (const block of document.querySelectorAll('main pre')) {
  const copy = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' });
  copy.addEventListener('click', () => {
    // Also works without TLS, where navigator.clipboard is missing.
    getSelection().selectAllChildren(block.querySelector('code'));
    document.execCommand('copy');
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy'), 2_000);
  });
  block.after(copy);
}
