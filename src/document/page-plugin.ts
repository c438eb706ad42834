/** What of Swagger UI's plugin system is used here (its documentation: "Plug-points" and "Plugin API"). */
interface SwaggerUiSystem {
  React: { createElement: (type: unknown, properties: object | null, ...children: unknown[]) => unknown };
  specSelectors: { specJson: () => ImmutableMap };
}

interface ImmutableMap {
  getIn(path: unknown[]): unknown;
}

/**
 * Runs in the browser: it is sent there as its own source text, so it must not use anything from outside of itself.
 * Takes the try-it button from operations marked `x-hideTryItPanel`, and shows `x-stability` and the sunset as badges.
 */
export function markersPlugin() {
  const hidden = 'x-hideTryItPanel';
  return {
    statePlugins: {
      spec: {
        wrapSelectors: {
          allowTryItOutFor:
            (original: (...all: unknown[]) => boolean) =>
            (state: ImmutableMap, path: string, method: string): boolean =>
              state.getIn(['json', 'paths', path, method, hidden]) !== true && original(state, path, method),
        },
      },
    },
    wrapComponents: {
      OperationSummaryPath: (Original: unknown, system: SwaggerUiSystem) => (properties: object) => {
        // Read from the document: an operation's own properties are there only once it was opened.
        const { operationProps } = properties as { operationProps: ImmutableMap };
        const operation = ['paths', operationProps.getIn(['path']), operationProps.getIn(['method'])];
        const document = system.specSelectors.specJson();
        const stability = document.getIn([...operation, 'x-stability']);
        const sunset = document.getIn([...operation, 'x-deprecated-sunset']);
        const badge = (className: string, text: string) =>
          system.React.createElement('span', { className: `petstore-badge ${className}` }, text);
        return system.React.createElement(
          'span',
          { className: 'petstore-summary' },
          system.React.createElement(Original, properties),
          typeof stability === 'string' ? badge(`petstore-${stability}`, stability) : null,
          typeof sunset === 'string' ? badge('petstore-deprecated', `deprecated, sunset ${sunset}`) : null,
        );
      },
    },
  };
}

export const PAGE_STYLE = `
.swagger-ui .topbar { display: none }
.petstore-summary { display: flex; flex-wrap: wrap; align-items: center; gap: 6px; min-width: 0 }
.petstore-badge { font: 600 11px sans-serif; padding: 2px 8px; border-radius: 10px; color: #fff; white-space: nowrap }
.petstore-beta { background: #1f5fbf }
.petstore-experimental { background: #8a3ab9 }
.petstore-deprecated { background: #6b6b6b }
`;
