import { setTimeout as sleep } from 'node:timers/promises';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import { StartFailure } from '../start-failure.ts';
import { type LocalAnswer, type LocalService, openLocalService } from './local-service.ts';
import { runTool } from './run-tool.ts';

const usage = `Usage: npm run projections -- <command>

  list                      how each read model stands
  rebuild <name>... | all   make read models anew beside those that answer, then put them in their place
  retry <name>              let a stopped one try its event again
  skip <name> <event id>    let a stopped one leave its event out

It talks to the service that runs on DATA_DIR, or opens the stores itself when none runs.
`;

const pollMilliseconds = 200;
const terminal = process.stdout.isTTY === true;

await runTool('projections', run);

async function run([command, ...names]: ReadonlyArray<string>): Promise<number> {
  const [name, eventId] = names;
  const action = actionOf(command, names);
  if (action === null) {
    process.stderr.write(usage);
    return 1;
  }
  const service = await openLocalService();
  try {
    switch (action) {
      case 'list':
        return list(service);
      case 'rebuild':
        return await rebuild(service, names);
      case 'retry':
      case 'skip':
        return told(
          await service.call('POST', `/v1/projections/${encodeURIComponent(name ?? '')}/${action}`, { eventId }),
        );
    }
  } finally {
    await service.close();
  }
}

function actionOf(command: string | undefined, names: ReadonlyArray<string>) {
  if (command === 'list') return command;
  if (command === 'rebuild') return names.length > 0 ? command : null;
  if (command === 'retry') return names.length === 1 ? command : null;
  if (command === 'skip') return names.length === 2 ? command : null;
  return null;
}

async function list(service: LocalService): Promise<number> {
  for (const status of await statuses(service)) process.stdout.write(`${lineOf(status)}\n`);
  return 0;
}

async function rebuild(service: LocalService, asked: ReadonlyArray<string>): Promise<number> {
  const names = asked[0] === 'all' ? (await statuses(service)).map(({ name }) => name) : asked;
  const begun = new Map<string, number>();
  for (const name of names) {
    const answer = await service.call('POST', `/v1/projections/${encodeURIComponent(name)}/rebuild`);
    if (told(answer) !== 0) return 1;
    begun.set(name, answer.position);
  }
  return follow(service, begun);
}

/** Shows progress until every rebuild that was asked for at these positions is over. */
async function follow(service: LocalService, begun: ReadonlyMap<string, number>): Promise<number> {
  const finished = new Set<string>();
  for (;;) {
    const followed = (await statuses(service)).filter(({ name }) => begun.has(name));
    for (const status of followed) {
      if (finished.has(status.name) || !isOver(status, begun.get(status.name) ?? 0)) continue;
      finished.add(status.name);
      write(`${lineOf(status)}\n`);
    }
    if (finished.size === begun.size) return followed.some(({ state }) => state === 'stopped') ? 1 : 0;
    const running = followed.filter(({ rebuild: progress }) => progress !== null);
    if (terminal) write(running.map(lineOf).join('   '));
    await sleep(pollMilliseconds);
  }
}

function isOver({ rebuild: progress, begunAt, state }: ProjectionStatus, askedAt: number): boolean {
  return progress === null && (begunAt >= askedAt || state === 'stopped');
}

/** Over the line before, on a terminal. */
function write(line: string): void {
  process.stdout.write(terminal ? `\r\x1b[2K${line}` : line);
}

function lineOf({ name, state, position, failure, rebuild: progress }: ProjectionStatus): string {
  if (progress !== null) {
    const percent = progress.target === 0 ? 100 : Math.floor((100 * progress.position) / progress.target);
    const left = progress.secondsLeft === null ? '' : `, ${progress.secondsLeft} s left`;
    return `${name} ${percent}% (${progress.eventsPerSecond} events/s${left})`;
  }
  if (failure !== null) {
    return `${name} ${state} at event ${failure.eventId} (${failure.eventType}, position ${failure.position}): ${failure.message}`;
  }
  return `${name} ${state} at position ${position}`;
}

async function statuses(service: LocalService): Promise<ReadonlyArray<ProjectionStatus>> {
  const { status, body } = await service.call('GET', '/v1/projections');
  if (status !== 200) throw new StartFailure(body.detail);
  return body.projections;
}

/** Says why a call was refused. @returns the exit code */
function told({ status, body }: LocalAnswer): number {
  if (status < 300) return 0;
  process.stderr.write(`projections: ${body.detail}\n`);
  return 1;
}
