import { setTimeout as sleep } from 'node:timers/promises';
import type { EventFailure } from '#domain/event-failure.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { runTool, unknownWord } from './command-line.ts';
import { type LocalService, type LocalServiceAnswer, openLocalService } from './local-service.ts';

/** A projection or process that runs, waits, or has stopped at an event. */
export interface Stoppable {
  readonly name: string;
  readonly state: string;
  readonly position: number;
  readonly failure: EventFailure | null;
  /** Only a process waits. */
  readonly waitingFor?: string | null;
  /** The running rebuild of a read model. */
  readonly rebuild?: { readonly position: number } | null;
}

/** @returns the exit code */
export type Action = (service: LocalService) => Promise<number>;

/** A tool for followers of the log that can stop at an event, such as projections and processes. */
export interface StoppableTool<Status extends Stoppable> {
  /** The name of the tool, of its path under `/v1` and of the list in the answer. */
  readonly name: 'projections' | 'processes';
  readonly usage: string;
  readonly describe: (status: Status) => string;
  /** Commands in addition to `list`, `status`, `retry` and `skip`. */
  readonly otherCommands?: ReadonlyArray<string>;
  /** The action of one of `otherCommands`; null for unknown words. */
  readonly otherAction?: (command: string | undefined, names: ReadonlyArray<string>) => Action | null;
}

/** Runs `list`, `status`, `retry`, `skip`, or one of the tool's other commands. */
export function runStoppableTool<Status extends Stoppable>(tool: StoppableTool<Status>): Promise<void> {
  return runTool(tool.name, tool.usage, async ([command, ...names]) => {
    const action = actionOf(tool, command, names) ?? tool.otherAction?.(command, names) ?? null;
    if (action === null) return refuseWords(tool, command, names);
    const service = await openLocalService();
    try {
      return await action(service);
    } finally {
      await service.close();
    }
  });
}

const maxNames: Readonly<Record<string, number>> = { list: 0, status: 0, retry: 1, skip: 2 };

/**
 * @returns null if a name is missing
 * @throws StartupError for an unknown word
 */
function refuseWords<Status extends Stoppable>(
  { name, otherCommands = [] }: StoppableTool<Status>,
  command: string | undefined,
  names: ReadonlyArray<string>,
): null {
  const commands = [...Object.keys(maxNames), ...otherCommands];
  if (command !== undefined && !commands.includes(command)) throw unknownWord(name, command, commands);
  const surplus = names[maxNames[command ?? ''] ?? names.length];
  if (surplus !== undefined) throw unknownWord(name, surplus, []);
  return null;
}

function actionOf<Status extends Stoppable>(
  tool: StoppableTool<Status>,
  command: string | undefined,
  names: ReadonlyArray<string>,
): Action | null {
  const [name = '', eventId] = names;
  if (command === 'list' && names.length === 0) return (service) => list(tool, service);
  if (command === 'status' && names.length === 0) return (service) => showProgress(tool, service);
  const isRetry = command === 'retry' && names.length === 1;
  const isSkip = command === 'skip' && names.length === 2;
  if (!isRetry && !isSkip) return null;
  return async (service) => exitCodeOf(tool, await service.call('POST', pathOf(tool, name, command), { eventId }));
}

async function list<Status extends Stoppable>(tool: StoppableTool<Status>, service: LocalService): Promise<number> {
  for (const status of await readStatuses<Status>(tool, service)) process.stdout.write(`${tool.describe(status)}\n`);
  return 0;
}

/** Time between the two samples of a rate. */
const sampleIntervalMs = 1_000;

/** Shows the place of each in the log, with the rate and the time for the rest. */
async function showProgress<Status extends Stoppable>(
  tool: StoppableTool<Status>,
  service: LocalService,
): Promise<number> {
  const before = await sample<Status>(tool, service);
  await sleep(sampleIntervalMs);
  const after = await sample<Status>(tool, service);
  for (const [index, { status, at }] of after.entries()) {
    const line =
      status.failure === null
        ? describeProgress(status.name, status.state, before[index]?.at ?? at, at)
        : tool.describe(status);
    process.stdout.write(`${line}\n`);
  }
  return 0;
}

async function sample<Status extends Stoppable>({ name }: StoppableTool<Status>, service: LocalService) {
  const { status, body } = await service.call('GET', `/v1/${name}`);
  if (status !== 200) throw new StartupError(body.detail);
  const statuses: ReadonlyArray<Status> = body[name];
  const logEnd: number | null = body.logEnd;
  const atMs = performance.now();
  return statuses.map((each) => ({ status: each, at: { position: placeOf(each), logEnd, atMs } }));
}

/**
 * The position in the log. During a rebuild it is that of the rebuild, because the read model in use is at the end of
 * the log.
 */
function placeOf({ position, rebuild }: Stoppable): number {
  return rebuild?.position ?? position;
}

export function pathOf({ name: group }: Pick<StoppableTool<never>, 'name'>, name: string, verb: string): string {
  return `/v1/${group}/${encodeURIComponent(name)}/${verb}`;
}

/** @throws StartupError if the service refuses */
export async function readStatuses<Status>(
  { name }: Pick<StoppableTool<never>, 'name'>,
  service: LocalService,
): Promise<ReadonlyArray<Status>> {
  const { status, body } = await service.call('GET', `/v1/${name}`);
  if (status !== 200) throw new StartupError(body.detail);
  return body[name];
}

/** Also prints why the call was refused. */
export function exitCodeOf({ name }: Pick<StoppableTool<never>, 'name'>, { status, body }: LocalServiceAnswer): number {
  if (status < 300) return 0;
  process.stderr.write(`${name}: ${body.detail}\n`);
  return 1;
}

/** One line: the progress, or the event at which it has stopped and the reason. */
export function describeStoppable({ name, state, position, failure, waitingFor }: Stoppable): string {
  if (failure === null) {
    const reason = state === 'waiting' ? ` for ${waitingFor}` : '';
    return `${name} ${state}${reason} at position ${position}`;
  }
  const { eventId, eventType, position: at, message } = failure;
  return `${name} ${state} at event ${eventId} (${eventType}, position ${at}): ${message}`;
}

export interface ProgressSample {
  readonly position: number;
  /** Null if the event store did not report it. */
  readonly logEnd: number | null;
  /** When the sample was taken, on any clock. */
  readonly atMs: number;
}

/** Describes the share of the log, the rate, and the time for the rest. @param before an earlier sample */
export function describeProgress(name: string, state: string, before: ProgressSample, after: ProgressSample): string {
  const { position, logEnd } = after;
  if (logEnd === null)
    return `${name} ${state} at position ${position}; the event store does not say where the log ends`;
  const place = `${name} ${state} at position ${position} of ${logEnd}`;
  const left = logEnd - position;
  if (left <= 0) return `${place}, 100%`;
  const percent = Math.floor((100 * position) / logEnd);
  return `${place}, ${percent}% (${paceOf(left, before, after)})`;
}

function paceOf(left: number, before: ProgressSample, after: ProgressSample): string {
  const seconds = (after.atMs - before.atMs) / 1000;
  const perSecond = seconds > 0 ? (after.position - before.position) / seconds : 0;
  if (perSecond <= 0) return 'it does not move';
  return `${Math.round(perSecond)} positions/s, ${Math.ceil(left / perSecond)} s left`;
}
