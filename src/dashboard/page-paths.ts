export const dashboardPath = '/dashboard';

/** True if each resource of the view has a separate path below it. */
const views = {
  flows: true,
  templates: false,
  gateway: false,
  calls: true,
  models: false,
  files: false,
  batches: false,
  stores: true,
  responses: false,
  'phone-numbers': false,
  'agent-profiles': false,
  customers: true,
  audit: false,
  projects: false,
  projections: false,
  keys: false,
  webhooks: true,
} as const;

/** Paths that are answered with the page, so that a view opens by its address. `:id` is the id of a resource. */
export const pagePaths: ReadonlyArray<string> = [
  dashboardPath,
  ...Object.entries(views).flatMap(([view, hasResourcePaths]) => {
    const path = `${dashboardPath}/${view}`;
    return hasResourcePaths ? [path, `${path}/:id`] : [path];
  }),
];
