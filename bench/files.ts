import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { idleMemory, residentMemory } from '#bench/gateway-processes/resident-memory.ts';
import { adminKey, startService } from '#test/support/service/service-process.ts';

/** `npm run bench -- files`: upload and download of 500 MB against curl to a bare server that writes it to disk. */
const megabytes = 500;
const rounds = 3;

/** Runs curl to its end. @returns its duration in ms, and its output */
async function curl(...words: ReadonlyArray<string>): Promise<{ readonly ms: number; readonly text: string }> {
  const began = performance.now();
  const child = spawn('curl', ['-sS', '-f', ...words], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pieces: Buffer[] = [];
  child.stdout.on('data', (piece: Buffer) => pieces.push(piece));
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== 0) throw new Error(`curl ended with ${code}`);
  return { ms: performance.now() - began, text: Buffer.concat(pieces).toString() };
}

/** Measures upload and download, and returns the best of some rounds. */
export default async function files(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-files-'));
  const file = join(folder, 'input.bin');
  writeFileSync(file, randomBytes(1_000_000));
  for (let part = 1; part < megabytes; part += 1) writeFileSync(file, randomBytes(1_000_000), { flag: 'a' });

  const bare = createServer(async (req, res) => {
    await pipeline(req, createWriteStream(join(folder, 'copy.bin')));
    res.end();
  });
  await new Promise<void>((resolve) => bare.listen(0, '127.0.0.1', resolve));
  const bareUrl = `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
  const service = await startService({ dataDir: join(folder, 'data') });

  try {
    const key = ['-H', `authorization: Bearer ${adminKey}`];
    const idle = await idleMemory(service.pid);
    let peak = idle;
    const watch = setInterval(() => {
      peak = Math.max(peak, residentMemory(service.pid));
    }, 50);
    const best = {
      bare: Number.POSITIVE_INFINITY,
      upload: Number.POSITIVE_INFINITY,
      download: Number.POSITIVE_INFINITY,
    };
    for (let round = 0; round < rounds; round += 1) {
      best.bare = Math.min(best.bare, (await curl('-T', file, bareUrl)).ms);
      const sent = await curl(...key, '-F', `file=@${file}`, '-F', 'purpose=user_data', `${service.url}/v1/files`);
      best.upload = Math.min(best.upload, sent.ms);
      const { id } = JSON.parse(sent.text) as { id: string };
      const out = join(folder, 'out.bin');
      best.download = Math.min(
        best.download,
        (await curl(...key, '-o', out, `${service.url}/v1/files/${id}/content`)).ms,
      );
      if (statSync(out).size !== statSync(file).size) throw new Error('the download has another size');
      await curl(...key, '-X', 'DELETE', `${service.url}/v1/files/${id}`);
    }
    clearInterval(watch);
    const ratio = (ms: number) => (ms / best.bare).toFixed(2);
    process.stdout.write(`curl to a bare server  ${best.bare.toFixed(0)} ms\n`);
    process.stdout.write(
      `upload                 ${best.upload.toFixed(0)} ms, ${ratio(best.upload)} times (limit 2)\n`,
    );
    process.stdout.write(
      `download               ${best.download.toFixed(0)} ms, ${ratio(best.download)} times (limit 2)\n`,
    );
    process.stdout.write(`memory above idle      ${((peak - idle) / 1e6).toFixed(0)} MB at most\n`);
  } finally {
    await service.kill();
    bare.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
