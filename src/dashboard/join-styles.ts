/** The order of the cascade: of two equal rules, the later one applies. */
const order: ReadonlyArray<string> = [
  'tokens.css',
  'base.css',
  'shell.css',
  'parts/controls.css',
  'parts/status.css',
  'parts/containers.css',
  'parts/tables.css',
  'parts/charts.css',
  'views/history.css',
  'views/diff.css',
  'views/graph.css',
  'views/routes.css',
  'views/tree.css',
  'views/operation.css',
  'views/playground.css',
  'views/calls.css',
  'views/first-steps.css',
  'parts/overlays.css',
  'parts/states.css',
  'widths.css',
  'parts/folded-tables.css',
  'media.css',
  'page.css',
];

/**
 * @param sheets texts by their path in `page/styles`
 * @throws Error for a sheet without a place in the order, and for a missing one
 */
export function joinStyles(sheets: ReadonlyMap<string, string>): string {
  for (const path of sheets.keys())
    if (!order.includes(path)) throw new Error(`The style sheet ${path} has no place in the order of join-styles.ts.`);
  return order.map((path) => sheets.get(path) ?? missing(path)).join('\n');
}

function missing(path: string): never {
  throw new Error(`The style sheet ${path} does not exist.`);
}
