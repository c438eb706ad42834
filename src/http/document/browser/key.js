// The dialog for the API key: checks it with the service, and keeps it for the tab.

const STORE = 'petstore-key';
const [dialog, button] = ['dialog.key', 'button.authorize'].map((selector) =>
  document.querySelector(selector),
);
const { form } = dialog.querySelector('input');
const { key: field, forget } = form.elements;

const kept = () => JSON.parse(sessionStorage.getItem(STORE) ?? 'null');

function say(text, refusal = '') {
  const status = dialog.querySelector('[role=status]');
  [status.textContent, status.className] = [text, refusal];
}

/** Shows the client of the current key, if any. */
function show() {
  const { client, endsWith, plan, scopes } = kept() ?? {};
  button.textContent = client ? `✓ ${client}` : 'Authorize';
  button.classList.toggle('authorized', Boolean(client));
  say(
    client
      ? `In use: the key of ${client} that ends with ${endsWith}. Plan ${plan}, may ${scopes.join(' and ')}.`
      : '',
  );
  forget.hidden = !client;
  field.value = '';
}

/** Called with the key, or undefined when it is forgotten. */
const uses = [];

function use() {
  uses.forEach((call) => call(kept()?.key));
  show();
}

/** Calls with the key of the tab, now and whenever it changes. */
export function onKey(call) {
  uses.push(call);
  use();
}

form.addEventListener('submit', async (event) => {
  if (event.submitter === form.elements.close) {
    return;
  }
  event.preventDefault();
  const key = field.value.trim();
  try {
    const answer = await fetch('/key', { headers: { 'X-API-Key': key } });
    const holder = await answer.json();
    if (!answer.ok) {
      return say(holder.message, 'refusal');
    }
    sessionStorage.setItem(STORE, JSON.stringify({ ...holder, key }));
    use();
    dialog.close();
  } catch {
    say(
      'The key cannot be checked: it has characters that no key has, or the service does not answer.',
      'refusal',
    );
  }
});
forget.addEventListener('click', () => {
  sessionStorage.removeItem(STORE);
  use();
});
button.addEventListener('click', () => {
  show();
  dialog.showModal();
});
show();
