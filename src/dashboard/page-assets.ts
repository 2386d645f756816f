import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { withTimeoutError } from '#shared/async/with-timeout.ts';
import type { CompressedFile, CompressedPage } from './page-thread.ts';

/** The files of the page, ready to be sent. */
export interface PageAssets {
  /** Over all files: part of every address. */
  readonly hash: string;
  /** By name. */
  readonly files: ReadonlyMap<string, CompressedFile>;
}

/** Compressing takes less than a second; a machine that swaps is waited for. */
const loadTimeoutMs = 60_000;

const late = () => new Error('The dashboard could not be made ready in time.');

/**
 * Strips, rewrites and compresses the page's files in a thread: calls that run are not held up, and the warning that
 * Node's stripping is experimental does not reach the service's output.
 * @throws Error when a file cannot be read, or imports what is not there
 */
export async function loadPageAssets(): Promise<PageAssets> {
  const thread = new Worker(new URL('./page-thread.ts', import.meta.url), {
    execArgv: [...process.execArgv, '--disable-warning=ExperimentalWarning'],
  });
  try {
    const [{ hash, files }] = (await withTimeoutError(loadTimeoutMs, once(thread, 'message'), late)) as [
      CompressedPage,
    ];
    return { hash, files: new Map(files.map((file) => [file.name, file])) };
  } finally {
    await thread.terminate();
  }
}
