// Shows the operations of one group in Swagger UI, which takes seconds for all of them together. What a user enters under
// "Authorize" is kept for the tab until "Logout"; `persistAuthorization` would keep it for good. What is sent is checked
// strictly, so that a misspelt member shows.
const kept = 'switchyard.authorized';

function keepAuthorization() {
  const keeping = (original, system) => (payload) => {
    const result = original(payload);
    sessionStorage.setItem(kept, JSON.stringify(system.authSelectors.authorized().toJS()));
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
    const isAudio = props.content instanceof Blob && /^audio\//i.test(props.contentType);
    return createElement(isAudio ? Player : Original, props);
  };
  return { wrapComponents: { responseBody: playing } };
}

/** Copies the components that a part of the specification refers to, and those that these refer to. */
function copyReferred(value, from, to) {
  if (typeof value !== 'object' || value === null) return;
  const [, kind, name] = /^#\/components\/(\w+)\/(.+)$/.exec(value.$ref ?? '') ?? [];
  if (kind !== undefined && to[kind]?.[name] === undefined) {
    to[kind] = { ...to[kind], [name]: from[kind][name] };
    copyReferred(from[kind][name], from, to);
  }
  for (const member of Object.values(value)) copyReferred(member, from, to);
}

/** Returns the specification with the operations of one group alone. */
function partOf(specification, group) {
  const isOfGroup = ([, operation]) => operation.tags?.includes(group);
  const ofGroup = Object.entries(specification.paths).map(([path, operations]) => [
    path,
    Object.fromEntries(Object.entries(operations).filter(isOfGroup)),
  ]);
  const paths = Object.fromEntries(ofGroup.filter(([, operations]) => Object.keys(operations).length > 0));
  const components = { securitySchemes: specification.components.securitySchemes };
  copyReferred(paths, specification.components, components);
  return { ...specification, tags: specification.tags.filter(({ name }) => name === group), paths, components };
}

/** The group that the address names, as in `#/Flows/create_flow`; else the first. */
function chosenGroup(specification) {
  const [, name] = /^#\/([^/]+)/.exec(location.hash) ?? [];
  const groups = specification.tags.map((tag) => tag.name);
  const chosen = name === undefined ? undefined : decodeURIComponent(name);
  return groups.includes(chosen) ? chosen : groups.find((group) => group !== 'Liveness');
}

function markChosen(group) {
  for (const details of document.querySelectorAll('nav details'))
    if (details.dataset.group === group) details.open = true;
  for (const link of document.querySelectorAll('nav li a'))
    if (link.hash === location.hash) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
}

const specification = await (await fetch('/openapi.json')).json();
let shown = chosenGroup(specification);
markChosen(shown);
const page = SwaggerUIBundle({
  spec: partOf(specification, shown),
  dom_id: '#operations',
  deepLinking: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: -1,
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
// For scripts of the browser's console.
globalThis.page = page;

addEventListener('hashchange', () => {
  const group = chosenGroup(specification);
  markChosen(group);
  if (group !== shown) page.specActions.updateJsonSpec(partOf(specification, group));
  shown = group;
  const [, operation] = /^#\/[^/]+\/(\w+)$/.exec(location.hash) ?? [];
  if (operation === undefined) return;
  page.layoutActions.show(['operations', group, operation], true);
  // The operation is on the page after the next rendering.
  setTimeout(() => document.querySelector(`.opblock[id$="-${operation}"]`)?.scrollIntoView());
});
