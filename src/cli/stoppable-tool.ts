import type { EventFailure } from '#domain/shared/event-failure.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { type LocalAnswer, type LocalService, openLocalService } from './local-service.ts';
import { runTool } from './run-tool.ts';

/** What runs, or has stopped at an event. */
export interface Stoppable {
  readonly name: string;
  readonly state: string;
  readonly position: number;
  readonly failure: EventFailure | null;
}

/** What a command does with the service. @returns the exit code */
export type Action = (service: LocalService) => Promise<number>;

export interface StoppableTool<Status extends Stoppable> {
  /** Of the tool, of its path below `/v1` and of the list in the answer. */
  readonly name: 'projections' | 'processes';
  readonly usage: string;
  readonly describe: (status: Status) => string;
  /** Its commands beside `list`, `retry` and `skip`; null for words that are none. */
  readonly otherAction?: (command: string | undefined, names: ReadonlyArray<string>) => Action | null;
}

/** Runs a tool for what may stop at an event: `list`, `retry`, `skip`, and the tool's other commands. */
export function runStoppableTool<Status extends Stoppable>(tool: StoppableTool<Status>): Promise<void> {
  return runTool(tool.name, async ([command, ...names]) => {
    const action = actionOf(tool, command, names) ?? tool.otherAction?.(command, names) ?? null;
    if (action === null) {
      process.stderr.write(tool.usage);
      return 1;
    }
    const service = await openLocalService();
    try {
      return await action(service);
    } finally {
      await service.close();
    }
  });
}

function actionOf<Status extends Stoppable>(
  tool: StoppableTool<Status>,
  command: string | undefined,
  names: ReadonlyArray<string>,
): Action | null {
  const [name = '', eventId] = names;
  if (command === 'list') return (service) => list(tool, service);
  const isRetry = command === 'retry' && names.length === 1;
  const isSkip = command === 'skip' && names.length === 2;
  if (!isRetry && !isSkip) return null;
  return async (service) => exitCodeOf(tool, await service.call('POST', pathOf(tool, name, command), { eventId }));
}

async function list<Status extends Stoppable>(tool: StoppableTool<Status>, service: LocalService): Promise<number> {
  for (const status of await readStatuses<Status>(tool, service)) process.stdout.write(`${tool.describe(status)}\n`);
  return 0;
}

/** The path of a request to one of them. */
export function pathOf({ name: group }: Pick<StoppableTool<never>, 'name'>, name: string, verb: string): string {
  return `/v1/${group}/${encodeURIComponent(name)}/${verb}`;
}

/** Asks the service for their statuses. @throws StartupError where it refuses */
export async function readStatuses<Status>(
  { name }: Pick<StoppableTool<never>, 'name'>,
  service: LocalService,
): Promise<ReadonlyArray<Status>> {
  const { status, body } = await service.call('GET', `/v1/${name}`);
  if (status !== 200) throw new StartupError(body.detail);
  return body[name];
}

/** Says why a call was refused. @returns the exit code */
export function exitCodeOf({ name }: Pick<StoppableTool<never>, 'name'>, { status, body }: LocalAnswer): number {
  if (status < 300) return 0;
  process.stderr.write(`${name}: ${body.detail}\n`);
  return 1;
}

/** One line: how far it is, or at which event it has stopped and why. */
export function describeStoppable({ name, state, position, failure }: Stoppable): string {
  if (failure === null) return `${name} ${state} at position ${position}`;
  const { eventId, eventType, position: at, message } = failure;
  return `${name} ${state} at event ${eventId} (${eventType}, position ${at}): ${message}`;
}
