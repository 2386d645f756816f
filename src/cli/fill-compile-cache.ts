import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/*
 * Starts the service once, on empty stores in a temporary folder, and stops it when it listens, so that Node caches what it
 * compiles in the folder that NODE_COMPILE_CACHE names. The image is built with it, because its root is read-only later.
 */
const timeoutMs = 120_000;
const main = join(import.meta.dirname, '../main.ts');

const folder = await mkdtemp(join(tmpdir(), 'switchyard-compile-'));
try {
  const { PATH = '', NODE_COMPILE_CACHE = '' } = process.env;
  if (NODE_COMPILE_CACHE === '') throw new Error('NODE_COMPILE_CACHE names no folder to fill.');
  await startAndStop({ PATH, NODE_COMPILE_CACHE, DATA_DIR: folder, SPOOL_DIR: folder, HOST: '127.0.0.1', PORT: '0' });
} finally {
  await rm(folder, { recursive: true });
}

/** @throws Error if the service does not listen, or does not end with 0 */
async function startAndStop(env: Readonly<Record<string, string>>): Promise<void> {
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'], timeout: timeoutMs });
  const ended = Promise.withResolvers<number | null>();
  child.on('error', ended.reject).on('close', ended.resolve);
  const lines: string[] = [];
  for await (const line of createInterface(child.stdout)) {
    lines.push(line);
    if (line.includes('"msg":"listening"')) child.kill('SIGTERM');
  }
  const code = await ended.promise;
  if (code !== 0) throw new Error(`The service ended with ${code}:\n${lines.join('\n')}`);
}
