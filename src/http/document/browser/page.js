// Runs Swagger UI with our additions on the page of the operations.

import { curl, exampleRequest, python, typescript } from './samples.js';

/** The document, as it was served. */
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

function plugin(system) {
  const { createElement: h, Fragment, useEffect, useReducer, useRef } = system.React;

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
    const key = system.authSelectors.authorized()?.getIn(['apiKey', 'value']);
    const values = system.specSelectors.parameterValues([path, method]).toJS();
    const body = system.oas3Selectors.requestBodyValue(path, method);
    const request = exampleRequest(served, path, method, key, { ...values, body });
    return h(system.getComponent('RequestSnippets', true), { request: system.Im.fromJS(request) });
  };

  /** Shows the request as code before it is sent, success as Swagger UI does, and errors as a list. */
  const responses = (Original) => (properties) => {
    const { path, method, tryItOutResponse } = properties;
    const Markdown = system.getComponent('Markdown', true);
    const isSuccess = (_response, status) => status < 300;
    const others = properties.responses.filterNot(isSuccess).map((response, status) => {
      const when = h(Markdown, { source: response.get('description') });
      return h('tr', { key: status }, h('th', { scope: 'row' }, status), h('td', null, when));
    });
    const column = useRef();
    useEffect(() => {
      column.current.querySelector('.live-responses-table')?.scrollIntoView({ block: 'nearest' });
    }, [tryItOutResponse]);
    return h(
      'div',
      { className: 'exchange', ref: column },
      operationAt(path, method) && !tryItOutResponse && h(Sample, { path, method }),
      h(Original, { ...properties, responses: properties.responses.filter(isSuccess) }),
      h(
        'table',
        { className: 'others' },
        h('caption', null, 'Other responses'),
        h('tbody', null, others.toList()),
      ),
    );
  };

  /** Swagger UI keeps the list of fields when a request can be typed, and then sends none: a new one shows the editor. */
  const editable = (Original) => (properties) => h(Original, { ...properties, key: properties.isExecute });

  const foldedHeaders = (Original) => (properties) =>
    h('details', null, h('summary', null, 'Headers'), h(Original, properties));

  /** Places a tag directly after its parent. */
  const grouped = (Original) => (properties) => {
    const { 'x-parent': parent } = served.tags.find(({ name }) => name === properties.tag);
    return h('div', { className: parent ? 'part' : 'group' }, h(Original, properties));
  };

  const nothing = () => null;
  return {
    // The page says how to start, and links are in the side bar.
    components: {
      authorizeOperationBtn: nothing,
      InfoContainer: nothing,
      ServersContainer: nothing,
    },
    wrapComponents: {
      OperationSummaryPath: badges,
      OperationTag: grouped,
      DeepLink:
        () =>
        ({ text }) =>
          h('span', null, text),
      headers: foldedHeaders,
      modelExample: editable,
      responses,
    },
    fn: {
      requestSnippetGenerator_curl_bash: curl,
      requestSnippetGenerator_typescript: (request) => typescript(served, request),
      requestSnippetGenerator_python: (request) => python(served, request),
    },
    statePlugins: {
      // Swagger UI's own scrolling ignores the header.
      layout: { wrapActions: { scrollToElement: () => (element) => element.scrollIntoView() } },
      spec: {
        wrapActions: {
          updateJsonSpec: (original) => (document) => {
            served = structuredClone(document);
            forReaders(document);
            original({ ...document, servers: [{ url: location.origin }] });
          },
        },
        wrapSelectors: {
          allowTryItOutFor: (original) => (state, path, method) =>
            !operationAt(path, method)?.['x-hideTryItPanel'] && original(state, path, method),
        },
      },
    },
  };
}

const ui = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#page',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
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
});

/** Opens the target of the address (`#/Tag/operationId`); Swagger UI does so only when it starts. */
function reveal() {
  const [, tag, operation] = decodeURIComponent(location.hash).split('/');
  const keys = tag ? [['operations-tag', tag], ...(operation ? [['operations', tag, operation]] : [])] : [];
  // Swagger UI's own action would add an entry to the browser history that leads nowhere.
  keys.forEach((thing) => ui.getStore().dispatch({ type: 'layout_show', payload: { thing, shown: true } }));
  setTimeout(() => {
    const shown = document.getElementById(keys.at(-1)?.join('-'));
    shown?.setAttribute('tabindex', '-1');
    shown?.focus({ preventScroll: true });
    shown?.scrollIntoView();
  });
}

addEventListener('hashchange', reveal);
addEventListener('click', ({ target }) => {
  // A link to the current target does not change the address.
  if (target.closest('a')?.href === location.href) {
    reveal();
  }
});

const dark = matchMedia('(prefers-color-scheme: dark)');
const followScheme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', followScheme);
followScheme();
