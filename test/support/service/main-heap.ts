import packageJson from '../../../package.json' with { type: 'json' };

/** The bound of the main thread's heap in MB, as `npm start` sets it. */
export const maxMainHeapMb = Number(/--max-old-space-size=(\d+)/.exec(packageJson.scripts.start)?.[1]);
