import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { Pool } from 'undici';
import { adminKey } from '#test/support/service/admin-key.ts';
import { Client } from '#test/support/service/client.ts';
import { maxInputHeapMb } from '#test/support/service/main-heap.ts';
import {
  type ServiceEnvironment,
  type ServiceProcess,
  startService,
  temporaryFolder,
} from '#test/support/service/service-process.ts';
import type { ProbeCommand, ProbeReport } from './probe-messages.ts';

const probeFile = resolve(import.meta.dirname, 'turn-probe.ts');

/** The limit of an answer of the service and of the probe, on a busy machine. It only keeps a test from hanging. */
const maxWaitMs = 300_000;

/** A service on embedded stores, in a process of its own, whose main thread is measured. */
export class ProbedService {
  /** A client with the admin key. */
  readonly client: Client;
  readonly #service: ServiceProcess;
  readonly #socket: Socket;
  readonly #lines: Interface;
  readonly #remove: () => void;

  private constructor(service: ServiceProcess, socket: Socket, remove: () => void) {
    this.#service = service;
    const limits = { headersTimeout: maxWaitMs, bodyTimeout: maxWaitMs };
    this.client = new Client(new Pool(service.url, { connections: 64, ...limits }), adminKey);
    this.#socket = socket;
    this.#lines = createInterface({ input: socket });
    this.#remove = remove;
  }

  /** Starts it with a third of the bound of its main thread's heap, and connects to its probe. */
  static async start(variables: ServiceEnvironment): Promise<ProbedService> {
    const folder = temporaryFolder();
    const path = join(folder.path, 'probe.sock');
    const environment = { ...variables, TURN_PROBE_SOCKET: path, NODE_OPTIONS: `--import=${probeFile}` };
    const service = await startService({ dataDir: join(folder.path, 'data'), environment, maxHeapMb: maxInputHeapMb });
    const socket = connect(path);
    await once(socket, 'connect');
    return new ProbedService(service, socket, folder.remove);
  }

  /**
   * Measures the service during some work.
   * @param maxHeldBytes memory above idle up to which no collection is needed
   * @returns the result of the work, and what the probe has measured
   */
  async measure<Result>(
    maxHeldBytes: number,
    work: () => Promise<Result>,
  ): Promise<{ readonly result: Result; readonly report: ProbeReport }> {
    await this.#ask({ ask: 'begin', maxHeldBytes });
    try {
      const result = await work();
      return { result, report: (await this.#ask({ ask: 'end' })) as ProbeReport };
    } catch (error) {
      await this.#ask({ ask: 'end' });
      throw error;
    }
  }

  async stop(): Promise<void> {
    this.#lines.close();
    this.#socket.destroy();
    await this.client.close();
    await this.#service.kill();
    this.#remove();
  }

  async #ask(command: ProbeCommand): Promise<unknown> {
    const answered = once(this.#lines, 'line', { signal: AbortSignal.timeout(maxWaitMs) });
    this.#socket.write(`${JSON.stringify(command)}\n`);
    const [line] = await answered;
    return JSON.parse(line);
  }
}
