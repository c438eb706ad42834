// Runs Swagger UI with our additions on the page of the operations.

import { limitsComponent } from './limits.js';
import { curl, exampleRequest, python, typescript } from './samples.js';

/** The OpenAPI document, as it was served. */
let served;
const operationAt = (path, method) => served.paths[path]?.[method];

/** Bounds from here on are those of the type, and say nothing. */
const LARGEST = 2 ** 31 - 1;

/** Shows the examples of optional parameters without filling them in: that of `If-Match` would make every request fail. */
function forReaders(part) {
  if (typeof part !== 'object' || part === null) {
    return;
  }
  if (part.in && part.schema && !part.required) {
    part.description += ` Example: \`${[part.example ?? part.schema.example].flat().join(', ')}\`.`;
    delete part.example;
    delete part.schema.example;
  }
  if (part.maximum >= LARGEST) {
    delete part.maximum;
  }
  // Swagger UI complains of formats of integers that it does not know.
  if (part.type === 'integer') {
    delete part.format;
  }
  delete part.pattern;
  Object.values(part).forEach(forReaders);
}

const parentOf = (tag) => served.tags.find(({ name }) => name === tag)['x-parent'];

/** Of all groups, the one operation with this name (`Tag/operationId`), below its group. */
function onlyOperation(groups, name) {
  const [tag, id] = name.split('/');
  const isShown = (operation) => operation.getIn(['operation', 'operationId']) === id;
  return groups
    .filter((_group, group) => [tag, parentOf(tag)].includes(group))
    .map((group) => group.update('operations', (operations) => operations.filter(isShown)));
}

function go(names) {
  location.hash = `/${names.join('/')}`;
}

/** Also without TLS, where crypto.randomUUID is missing. */
const newUuid = () =>
  [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-a$4-');

let newestUuid;
/** Fills in a new Idempotency-Key where the operation takes one, unless somebody typed his own. */
function renewIdempotencyKey({ specSelectors, specActions }, pathMethod) {
  const parameters = specSelectors.specResolvedSubtree(['paths', ...pathMethod, 'parameters']);
  const parameter = parameters?.find((one) => one.get('name') === 'Idempotency-Key');
  const typed = specSelectors.parameterValues(pathMethod).get('header.Idempotency-Key');
  if (parameter && (!typed || typed === newestUuid)) {
    newestUuid = newUuid();
    specActions.changeParamByIdentity(pathMethod, parameter, newestUuid, false);
  }
}

function plugin(system) {
  const { createElement: h, Fragment, useEffect, useLayoutEffect, useReducer, useRef } = system.React;

  const badges = (Original) => (properties) => {
    const { path, method } = properties.operationProps.toJS();
    const { 'x-stability': stability, 'x-deprecated-sunset': sunset } = operationAt(path, method) ?? {};
    const badge = (mark, text) => mark && h('span', { className: `badge ${mark}` }, text);
    const marks = [
      badge(stability, stability),
      badge(sunset && 'deprecated', `deprecated, sunset ${sunset}`),
    ];
    return h(Fragment, null, h(Original, properties), ...marks);
  };

  /** The request as code, with what is typed so far. */
  const Sample = ({ path, method }) => {
    const [, refresh] = useReducer((count) => count + 1, 0);
    useEffect(() => system.getStore().subscribe(refresh), []);
    const request = exampleRequest(system, path, method);
    return h(system.getComponent('RequestSnippets', true), { request: system.Im.fromJS(request) });
  };

  const authorizedKey = () => system.authSelectors.authorized().getIn(['apiKey', 'value']);

  /** Requests as code show the key only if somebody asks for it. */
  let isKeyShown = false;
  const revealing = (Original) => (properties) => {
    const [, refresh] = useReducer((count) => count + 1, 0);
    const onChange = ({ target }) => {
      isKeyShown = target.checked;
      refresh();
    };
    const box = h('input', { type: 'checkbox', defaultChecked: isKeyShown, onChange });
    const choice = authorizedKey() && h('label', { className: 'reveal' }, box, ' Show my key');
    return h(Fragment, null, h(Original, properties), choice);
  };

  /** The dialog for the key is one of the browser's: it keeps the focus, and returns it to where it was. */
  const modal = (Original) => (properties) => {
    const place = useRef();
    useLayoutEffect(() => {
      const dialog = place.current;
      dialog.showModal();
      dialog.querySelector('input, form button').focus();
      return () => dialog.close();
    }, []);
    const onCancel = () => system.authActions.showDefinitions(false);
    return h('dialog', { ref: place, 'aria-label': 'API key', onCancel }, h(Original, properties));
  };

  /** Execute asks for a key if there is none. */
  const asking = (Original) => (properties) => {
    const onClickCapture = (event) => {
      if (!authorizedKey()) {
        event.stopPropagation();
        system.authActions.showDefinitions(system.authSelectors.definitionsToAuthorize());
      }
    };
    return h('div', { className: 'asking', onClickCapture }, h(Original, properties));
  };

  /** "Try it out" fills in a new Idempotency-Key. */
  const filling = (Original) => (properties) => {
    const onTryoutClick = () => {
      renewIdempotencyKey(system, properties.pathMethod);
      properties.onTryoutClick();
    };
    return h(Original, { ...properties, onTryoutClick });
  };

  /** All errors as one response: when there is which code, and an example of each to choose from. */
  const asOne = (errors) => {
    const description = errors
      .map((response, status) => response.get('description').replace(/^(?=`)/gm, `**${status}** `))
      .join('\n\n');
    const examples = errors.reduce((all, response, status) => {
      const own = response.getIn(['content', 'application/json', 'examples']);
      return all.merge(own.map((example, code) => example.set('summary', `${status} ${code}`)));
    }, system.Im.OrderedMap());
    return system.Im.Map({ description }).setIn(['content', 'application/json', 'examples'], examples);
  };

  /** Shows the request as code before it is sent, success as Swagger UI does, and all errors together. */
  const responses = (Original) => (properties) => {
    const { path, method, tryItOutResponse } = properties;
    const isError = (_response, status) => status >= 400;
    const errors = properties.responses.filter(isError);
    const others = properties.responses.filterNot(isError);
    const column = useRef();
    // The response itself is another object at each rendering.
    useEffect(() => {
      column.current.querySelector('.live-responses-table')?.scrollIntoView({ block: 'nearest' });
    }, [tryItOutResponse?.get('headers')]);
    return h(
      'div',
      { className: 'exchange', ref: column },
      operationAt(path, method) && !tryItOutResponse && h(Sample, { path, method }),
      h(Original, {
        ...properties,
        responses: errors.isEmpty() ? others : others.set('Errors', asOne(errors)),
      }),
    );
  };

  /** Swagger UI keeps the list of fields when a request can be typed, and then sends none: a new one shows the editor. */
  const editable = (Original) => (properties) => h(Original, { ...properties, key: properties.isExecute });

  const foldedHeaders = (Original) => (properties) =>
    h('details', null, h('summary', null, 'Headers'), h(Original, properties));

  /** Places a tag directly after its parent. */
  const grouped = (Original) => (properties) =>
    h('div', { className: parentOf(properties.tag) ? 'part' : 'group' }, h(Original, properties));

  /** The name of a group is a link to it, and does not fold it. An operation is in a button, which shows it. */
  const groupLink =
    () =>
    ({ text, path }) =>
      path.includes('/')
        ? h('span', null, text)
        : h('a', { href: `#/${text}`, onClick: (event) => event.stopPropagation() }, text);

  const nothing = () => null;
  return {
    // The page says how to start, and links are in the side bar.
    components: {
      authorizeOperationBtn: nothing,
      FilterContainer: nothing,
      InfoContainer: limitsComponent(system, authorizedKey),
      ServersContainer: nothing,
    },
    wrapComponents: {
      OperationSummaryPath: badges,
      OperationTag: grouped,
      DeepLink: groupLink,
      headers: foldedHeaders,
      modelExample: editable,
      RequestSnippets: revealing,
      authorizationPopup: modal,
      execute: asking,
      parameters: filling,
      responses,
    },
    fn: {
      opsFilter: onlyOperation,
      requestSnippetGenerator_curl_bash: (request) => curl(request, isKeyShown && authorizedKey()),
      requestSnippetGenerator_typescript: (request) => typescript(served, request),
      requestSnippetGenerator_python: (request) => python(served, request),
    },
    statePlugins: {
      auth: {
        wrapActions: {
          // Who has authorized is done with the dialog.
          authorize: (original) => (schemes) => {
            original(schemes);
            system.authActions.showDefinitions(false);
          },
        },
      },
      // The address decides which operation is shown; see follow().
      layout: {
        wrapActions: {
          show: (original) => (thing, shown) => {
            const [kind, ...names] = thing;
            return kind === 'operations' ? go(shown ? names : []) : original(thing, shown);
          },
        },
        wrapSelectors: {
          isShown: (original) => (state, thing, fallback) => {
            const [kind, ...names] = thing;
            return kind === 'operations'
              ? state.get('filter') === names.join('/')
              : original(thing, fallback);
          },
        },
      },
      spec: {
        wrapActions: {
          // Sent again, a key that was used would only repeat the answer.
          setResponse: (original) => (path, method, response) => {
            original(path, method, response);
            if (response.ok) {
              renewIdempotencyKey(system, [path, method]);
            }
          },
          updateJsonSpec: (original) => (document) => {
            served = structuredClone(document);
            forReaders(document);
            // The other scheme takes the same key.
            delete document.components.securitySchemes.bearer;
            original({ ...document, servers: [{ url: location.origin }] });
          },
        },
        wrapSelectors: {
          allowTryItOutFor: (original) => (_state, path, method) =>
            !operationAt(path, method)?.['x-hideTryItPanel'] && original(path, method),
        },
      },
    },
  };
}

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#page',
  // Each operation has its schemas.
  defaultModelsExpandDepth: -1,
  // Fields with their types and limits at once; the example is a click away.
  defaultModelRendering: 'model',
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  requestSnippetsEnabled: true,
  requestSnippets: {
    generators: {
      curl_bash: { title: 'curl', syntax: 'bash' },
      typescript: { title: 'TypeScript', syntax: 'javascript' },
      python: { title: 'Python', syntax: 'bash' },
    },
    languages: ['curl_bash', 'typescript', 'python'],
  },
  showCommonExtensions: true,
  plugins: [plugin],
  onComplete: follow,
});
follow();

/** Shows what the address names: an operation (`#/Tag/operationId`), a group in the overview (`#/Tag`), or the overview. */
function follow() {
  if (location.hash && !location.hash.startsWith('#/')) {
    return;
  }
  const name = location.hash.slice(2);
  const entry = document.querySelector(`#menu li a[href="/docs#/${CSS.escape(name)}"]`);
  ui.layoutActions.updateFilter(entry ? name : false);
  document.body.classList.toggle('one-operation', entry !== null);
  document.title = `${entry ? `${entry.querySelector('.path > span').textContent} – ` : ''}Pet Store`;
  document.querySelector('#menu [aria-current]')?.removeAttribute('aria-current');
  entry?.setAttribute('aria-current', 'page');
  setTimeout(() => {
    const group = document.getElementById(`operations-tag-${name.split('/')[0]}`);
    group?.setAttribute('tabindex', '-1');
    group?.focus({ preventScroll: true });
    (entry ? document.body : group)?.scrollIntoView();
  });
}

/** What the markup of Swagger UI lacks for a keyboard and a screen reader, by selector. */
const ATTRIBUTES = {
  '.tab-item, .curl-command .btn': { role: 'button', tabindex: 0 },
  'pre.curl, pre.microlight': { tabindex: 0 },
  '.model-box-control': { title: 'Fields' },
  '.examples-select-element': { 'aria-label': 'Example' },
  '.body-param__text': { 'aria-label': 'Request body' },
  '.close-modal': { 'aria-label': 'Close' },
  '.modal-btn.authorize': { 'aria-label': 'Authorize' },
  '.modal-btn.auth:not(.authorize, .btn-done)': { 'aria-label': 'Logout' },
};
new MutationObserver(() => {
  for (const [selector, attributes] of Object.entries(ATTRIBUTES)) {
    for (const element of document.querySelectorAll(selector)) {
      Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
    }
  }
}).observe(document.getElementById('page'), { childList: true, subtree: true });
addEventListener('keydown', (event) => {
  if (event.target.matches('div[role=button]') && ['Enter', ' '].includes(event.key)) {
    event.preventDefault();
    event.target.click();
  }
});

addEventListener('hashchange', follow);
addEventListener('click', ({ target }) => {
  // A link to the current target does not change the address.
  if (target.closest('a')?.href === location.href) {
    follow();
  }
});

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();
