/** The time of each function itself, in microseconds, by its name, a space, and the file or package that it is from. */
export type Profile = Readonly<Record<string, number>>;

/** A group of functions, with its time of one request in microseconds. */
export interface Share {
  readonly name: string;
  readonly microseconds: number;
}

/** Sums the time of a profile by group, for each request, the largest first. The idle time is left out. */
export function sharesOf(profile: Profile, requests: number, groupOf: (name: string) => string): ReadonlyArray<Share> {
  const sums = new Map<string, number>();
  for (const [name, microseconds] of Object.entries(profile)) {
    if (name.startsWith('(idle)')) continue;
    const group = groupOf(name);
    sums.set(group, (sums.get(group) ?? 0) + microseconds / requests);
  }
  return [...sums]
    .map(([name, microseconds]) => ({ name, microseconds }))
    .sort((one, other) => other.microseconds - one.microseconds);
}

/** Returns the part of the program that a function belongs to: a folder of the project, a package, Node or V8. */
export function partOf(name: string): string {
  const place = name.slice(name.lastIndexOf(' ') + 1);
  if (place === '') return name.startsWith('(') ? `V8 ${name.trim()}` : 'native functions';
  if (place.startsWith('node:')) return nodePartOf(place);
  const inPackage = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(place)?.[1];
  if (inPackage !== undefined) return `package ${inPackage}`;
  return place
    .split('/')
    .slice(0, place.startsWith('src/') ? 2 : 1)
    .join('/');
}

function nodePartOf(place: string): string {
  const [, part = ''] = /^node:(?:internal\/)?([a-z]+)/.exec(place) ?? [];
  return `node ${part === '' ? place : part}`;
}
