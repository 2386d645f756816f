import { setTimeout as sleep } from 'node:timers/promises';
import { type Checkout, here } from '#bench/beside/checkout.ts';
import type { Figure } from '#bench/beside/compare.ts';
import { format, median, print, printTable, type Result } from '#bench/measure.ts';
import { uploadCommands } from '#commands/gateway-table.ts';
import { commands } from '#commands/table.ts';
import { DocumentedOperations } from '#test/e2e/support/documented-operations.ts';
import { uploadText } from '#test/e2e/support/upload.ts';
import {
  linesFile,
  refusedWrites,
  type WriteInputs,
  writableEnvironment,
  writeInputs,
} from '#test/e2e/support/write-inputs.ts';
import type { Client, Reply } from '#test/support/service/client.ts';
import { withServiceOn } from './service/engine-service.ts';

const reference = 'create_flow';
const maxRatio = 3;
/** The effects of what an input prepares are mostly complete after this pause. */
const settleMs = 100;

/** The median time of a command, in milliseconds. */
interface CommandTime {
  readonly name: string;
  readonly p50Ms: number;
}

/**
 * The p50 of every command of the control plane, from one client, against that of creating a flow. Each request is
 * valid, on resources that are created before it, and a flow is created beside each, so that other load on the machine
 * affects both. Retrying and skipping are refused, because nothing has stopped.
 * @param url of an EventStoreDB
 * @param samples the requests of each command
 */
export async function commandTimes(url: string, samples: number): Promise<ReadonlyArray<Result>> {
  const times = await measure(url, samples, here);
  const flowMs = timeOf(times, reference);
  const rows = times
    .toSorted((one, other) => other.p50Ms - one.p50Ms)
    .map(({ name, p50Ms }) => {
      const ratio = p50Ms / flowMs;
      return [name, `${format(p50Ms)} ms`, `${format(ratio)} ×`, ratio > maxRatio ? `above ${maxRatio} ×` : ''];
    });
  print(`p50 of every command, against ${format(flowMs)} ms of creating a flow`);
  printTable(['', 'p50', 'of creating a flow', ''], rows);
  print();
  const slow = times.filter(({ p50Ms }) => p50Ms > maxRatio * flowMs);
  return [
    { what: 'commands that take more than 3 × creating a flow', figure: slow.length, unit: '', required: 0.5, aim: 0 },
  ];
}

/** Returns the same times as figures of one version. */
export async function commandFigures(url: string, samples: number, checkout: Checkout): Promise<ReadonlyArray<Figure>> {
  const times = await measure(url, samples, checkout);
  return times.map(({ name, p50Ms }) => ({ what: name, value: p50Ms, unit: ' ms' }));
}

function timeOf(times: ReadonlyArray<CommandTime>, wanted: string): number {
  return times.find(({ name }) => name === wanted)?.p50Ms ?? Number.NaN;
}

function measure(url: string, samples: number, checkout: Checkout): Promise<ReadonlyArray<CommandTime>> {
  const options = { checkout, environment: writableEnvironment };
  return withServiceOn(url, options, ({ client }) => measureOn(client, samples));
}

async function measureOn(client: Client, samples: number): Promise<ReadonlyArray<CommandTime>> {
  const operations = await DocumentedOperations.of(client);
  const { body: me } = await client.get<{ projectId: string }>('/v1/me');
  const requests = new Requests(client, operations, writeInputs({ client, operations, projectId: me.projectId }));
  for (let warmUp = 0; warmUp < 10 * samples; warmUp += 1) await requests.time(reference);
  const flowTimes: number[] = [];
  const known = new Set(operations.writes);
  const times: CommandTime[] = [];
  for (const {
    about: { name },
  } of [...commands, ...uploadCommands]) {
    if (name === reference || !known.has(name)) continue;
    const own: number[] = [];
    for (let sample = 0; sample < samples; sample += 1) {
      own.push(await requests.time(name));
      flowTimes.push(await requests.time(reference));
    }
    times.push({ name, p50Ms: median(own) });
  }
  return [{ name: reference, p50Ms: median(flowTimes) }, ...times];
}

/** Sends valid requests of commands, one at a time. */
class Requests {
  readonly #client: Client;
  readonly #operations: DocumentedOperations;
  readonly #inputs: WriteInputs;

  constructor(client: Client, operations: DocumentedOperations, inputs: WriteInputs) {
    this.#client = client;
    this.#operations = operations;
    this.#inputs = inputs;
  }

  /** Prepares a request and sends it. @returns how long it took, in milliseconds. @throws Error if it is refused */
  async time(name: string): Promise<number> {
    const send = await this.#prepare(name);
    await sleep(settleMs);
    const began = performance.now();
    await send();
    return performance.now() - began;
  }

  async #prepare(name: string): Promise<() => Promise<unknown>> {
    const refused = refusedWrites[name];
    if (refused !== undefined) return () => this.#send(name, refused.path, {}, 409);
    const input = this.#inputs[name];
    if (input === undefined) throw new Error(`There is no input for ${name}.`);
    const { path, body, file } = await input();
    if (file !== undefined) return () => uploadText(this.#client, linesFile.buffer.toString(), { purpose: 'batch' });
    return () => this.#send(name, path, body);
  }

  async #send(name: string, path: Readonly<Record<string, string>> = {}, body: object = {}, refusal = 0) {
    const reply: Reply<unknown> = await this.#client.send(this.#operations.requestOf(name, path, body));
    if (reply.status >= 300 && reply.status !== refusal)
      throw new Error(`${name} was answered by ${reply.status}: ${reply.text}`);
  }
}
