import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type Koa from 'koa';

/** The system's limit for a socket's path is 108 bytes on Linux, 104 elsewhere. */
const maxPathCharacters = 100;

/** Null if its path is too long. */
export function controlSocketPath(dataDir: string): string | null {
  const path = join(dataDir, 'control.sock');
  return Buffer.byteLength(path) > maxPathCharacters ? null : path;
}

/**
 * Opens the socket for command-line tools on this machine. Only the folder's owner can open the socket.
 * @param createOnDemand called at the first request: most nodes never get one
 * @returns closes it
 */
export async function openControlSocket(
  createOnDemand: () => Promise<Koa>,
  path: string,
): Promise<() => Promise<void>> {
  let callback: Promise<ReturnType<Koa['callback']>> | null = null;
  const server = createServer((request, response) => {
    callback ??= createOnDemand().then((app) => app.callback());
    callback.then(
      (answer) => answer(request, response),
      (error: unknown) => response.destroy(error instanceof Error ? error : new Error(String(error))),
    );
  });
  rmSync(path, { force: true });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject);
  // This call creates the socket: from its first moment on, only the owner may open it.
  const before = process.umask(0o177);
  try {
    server.listen(path, resolve);
  } finally {
    process.umask(before);
  }
  await promise;
  return () =>
    new Promise((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
}
