// The one thing on a guide that needs a script: buttons that copy what somebody may want to run.
for (const code of document.querySelectorAll('pre > code:not(.language-http, .language-text)')) {
  const copy = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Copy' });
  copy.addEventListener('click', () => {
    // Also works without TLS, where navigator.clipboard is missing.
    getSelection().selectAllChildren(code);
    document.execCommand('copy');
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy'), 2_000);
  });
  code.parentElement.after(copy);
}
