// Lets readers choose light or dark colours for all pages. The choice is stored under the name `colorMode`, which
// Scalar uses as well.
{
  const system = matchMedia('(prefers-color-scheme: dark)');
  const button = Object.assign(document.createElement('button'), { type: 'button' });

  const chosen = () => {
    try {
      return localStorage.getItem('colorMode');
    } catch {
      // The browser does not let this page store anything, so no choice is known.
      return null;
    }
  };
  const isDark = () => (['dark', 'light'].includes(chosen()) ? chosen() === 'dark' : system.matches);
  const show = (dark) => {
    // Set the class of the root element for the guides and Swagger UI, and the class of the body for Scalar. While the
    // head of the page loads, there is no body yet.
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
