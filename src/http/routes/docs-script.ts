/**
 * The script that starts Swagger UI. What a user enters under "Authorize" is kept for the tab until "Logout";
 * `persistAuthorization` would keep it for good. What is sent is checked strictly, so that a misspelt member shows.
 */
export const startScript = `const kept = 'switchyard.authorized';

function keep(system) {
  sessionStorage.setItem(kept, JSON.stringify(system.authSelectors.authorized().toJS()));
}

function keepAuthorization() {
  const keeping = (original, system) => (payload) => {
    const result = original(payload);
    keep(system);
    return result;
  };
  return { statePlugins: { auth: { wrapActions: { authorize: keeping, logout: keeping } } } };
}

// Swagger UI plays an answer by asking for its address again, with GET and without the key.
function playAnswers({ React: { createElement, useMemo } }) {
  const Player = ({ content }) => {
    const src = useMemo(() => URL.createObjectURL(content), [content]);
    return createElement('audio', { controls: true, src });
  };
  const playing = (Original) => (props) => {
    const isAudio = props.content instanceof Blob && /^audio\\//i.test(props.contentType);
    return createElement(isAudio ? Player : Original, props);
  };
  return { wrapComponents: { responseBody: playing } };
}

const page = SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#operations',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
  presets: [SwaggerUIBundle.presets.apis],
  plugins: [keepAuthorization, playAnswers],
  layout: 'BaseLayout',
  requestInterceptor: (request) => {
    if (!request.loadSpec) request.headers.Prefer = 'handling=strict';
    return request;
  },
  onComplete: () => {
    const authorized = sessionStorage.getItem(kept);
    if (authorized !== null) page.authActions.authorize(JSON.parse(authorized));
  },
});
`;
