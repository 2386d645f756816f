/** Where the dashboard is. */
export const dashboardPath = '/dashboard';

/** The views of the page, each with whether one of its resources has a page of its own below it. */
const views = {
  flows: true,
  templates: false,
  gateway: false,
  'phone-numbers': false,
  'agent-profiles': false,
  customers: true,
  audit: false,
  projections: false,
  keys: false,
  webhooks: true,
} as const;

/** Every path that answers with the page, with `:id` for the id of a resource: a view can be opened by its address. */
export const pagePaths: ReadonlyArray<string> = [
  dashboardPath,
  ...Object.entries(views).flatMap(([view, hasPages]) => {
    const path = `${dashboardPath}/${view}`;
    return hasPages ? [path, `${path}/:id`] : [path];
  }),
];
