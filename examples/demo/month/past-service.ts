import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DemoError } from '#examples/demo/demo-error.ts';
import { type SpawnedService, spawnService } from '#examples/demo/spawned-service.ts';

const clock = pathToFileURL(join(import.meta.dirname, 'clock.mjs')).href;
const dayMs = 86_400_000;
const moveMs = 10_000;

/** A Switchyard in a temporary folder whose clock is set back. What it stores becomes the history of the demo. */
export class PastService implements AsyncDisposable {
  readonly folder: string;
  readonly #service: SpawnedService;

  private constructor(folder: string, service: SpawnedService) {
    this.folder = folder;
    this.#service = service;
  }

  /** Starts the service with its clock set back thirty days. @throws DemoError when it does not start */
  static async start(environment: NodeJS.ProcessEnv, adminKey: string, signal: AbortSignal): Promise<PastService> {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-demo-'));
    const variables = {
      DATA_DIR: folder,
      BOOTSTRAP_API_KEY: adminKey,
      HOST: '127.0.0.1',
      PORT: '0',
      METRICS_PORT: '',
      GATEWAY_CONFIG: '',
      // The service of the demo signs the history with a key of its own.
      DIGEST_SIGNING_KEY: 'off',
    };
    try {
      return new PastService(folder, await spawnService({ environment, variables, signal, preload: clock }));
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
  }

  get url(): string {
    return this.#service.url;
  }

  /** Sets the clock to a day before today. @param time hh:mm, in UTC */
  async moveTo(daysAgo: number, time: string): Promise<void> {
    const day = new Date(Date.now() - daysAgo * dayMs).toISOString().slice(0, 10);
    const { process } = this.#service;
    const moved = once(process, 'message', { signal: AbortSignal.timeout(moveMs) });
    // An ended process is noticed by the missing answer.
    process.send({ time: Date.parse(`${day}T${time}:00.000Z`) }, () => undefined);
    await moved.catch((error) => {
      throw new DemoError('The service that makes the history has ended.', { cause: error });
    });
  }

  /** Keeps the folder. */
  stop(): Promise<void> {
    return this.#service.stop();
  }

  /** Removes the folder, too. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
