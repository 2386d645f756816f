import packageJson from '../../../package.json' with { type: 'json' };

/** The bound of the main thread's heap in MB, as `npm start` sets it. */
export const maxMainHeapMb = Number(/--max-old-space-size=(\d+)/.exec(packageJson.scripts.start)?.[1]);

/** What the largest input of the main thread may take, with the service at rest: the bound is three times as much. */
export const maxInputHeapMb = Math.floor(maxMainHeapMb / 3);
