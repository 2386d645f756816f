import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { CompressedFile } from '#http/response/compressed-file.ts';
import { withTimeoutError } from '#shared/async/timed-waits.ts';
import type { CompressedPage } from './page-thread.ts';

/** The compressed files of the page. */
export interface PageAssets {
  /** The hash of all files. It is a part of every address. */
  readonly hash: string;
  readonly files: ReadonlyMap<string, CompressedFile>;
}

/** Compressing takes less than a second. The limit is high because a machine that swaps is much slower. */
const loadTimeoutMs = 60_000;

const timeoutError = () => new Error('The files of the dashboard could not be prepared in time.');

/**
 * Strips, joins and compresses the page's files in a separate thread. It does not delay running calls, and Node's
 * warning about experimental type stripping does not reach the service's output.
 * @throws Error if a file cannot be read or imports an unknown module
 */
export async function loadPageAssets(): Promise<PageAssets> {
  const thread = new Worker(new URL('./page-thread.ts', import.meta.url), {
    // The flags of this process are left out: a thread refuses those of V8.
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  try {
    const [{ hash, files }] = (await withTimeoutError(loadTimeoutMs, once(thread, 'message'), timeoutError)) as [
      CompressedPage,
    ];
    return { hash, files: new Map(files.map((file) => [file.name, file])) };
  } finally {
    await thread.terminate();
  }
}
