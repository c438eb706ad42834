import type { ImmutableMap, Wrapper } from './swagger-ui';

/**
 * Takes the try-it button from operations marked `x-hideTryItPanel`, and shows `x-stability` and the sunset as badges.
 * Runs in the browser, where it is sent as its own source text: it uses nothing from outside of itself.
 */
export function markersPlugin() {
  const hidden = 'x-hideTryItPanel';
  const withBadges: Wrapper<{ operationProps: ImmutableMap }> = (Original, system) => (properties) => {
    const { createElement } = system.React;
    const { operationProps } = properties;
    // Read from the document: an operation's own properties are there only once it was opened.
    const operation = ['paths', operationProps.getIn(['path']), operationProps.getIn(['method'])];
    const document = system.specSelectors.specJson();
    const stability = document.getIn([...operation, 'x-stability']);
    const sunset = document.getIn([...operation, 'x-deprecated-sunset']);
    const badge = (className: string, text: string) =>
      createElement('span', { className: `petstore-badge ${className}` }, text);
    return createElement(
      'span',
      { className: 'petstore-summary' },
      createElement(Original, properties),
      typeof stability === 'string' ? badge(`petstore-${stability}`, stability) : null,
      typeof sunset === 'string' ? badge('petstore-deprecated', `deprecated, sunset ${sunset}`) : null,
    );
  };
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
    wrapComponents: { OperationSummaryPath: withBadges },
  };
}
