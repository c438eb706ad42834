// The choice of light or dark, for all pages. It is kept under the name that Scalar uses, too.
{
  const system = matchMedia('(prefers-color-scheme: dark)');
  const button = Object.assign(document.createElement('button'), { type: 'button' });

  const chosen = () => {
    try {
      return localStorage.getItem('colorMode');
    } catch {
      // The browser keeps nothing for this page.
      return null;
    }
  };
  const isDark = () => (['dark', 'light'].includes(chosen()) ? chosen() === 'dark' : system.matches);
  const show = (dark) => {
    // The guides and Swagger UI read the class of the root, Scalar that of the body.
    for (const { classList } of [document.documentElement, document.body].filter(Boolean)) {
      classList.toggle('dark-mode', dark);
      classList.toggle('light-mode', !dark);
    }
    button.textContent = dark ? 'Light' : 'Dark';
    button.ariaLabel = dark ? 'Light colours' : 'Dark colours';
  };

  show(isDark());
  system.addEventListener('change', () => show(isDark()));
  addEventListener('storage', () => show(isDark()));
  button.addEventListener('click', () => {
    const dark = !document.documentElement.classList.contains('dark-mode');
    try {
      localStorage.setItem('colorMode', dark ? 'dark' : 'light');
    } finally {
      show(dark);
    }
  });
  document.addEventListener('DOMContentLoaded', () => {
    document.querySelector('.site').append(button);
    show(isDark());
  });
}
