import { setTimeout as sleep } from 'node:timers/promises';
import { describeIncompleteStreams } from '#read-store/incomplete-streams.ts';
import type { ProjectionStatus } from '#read-store/read-store.ts';
import type { LocalService } from './shared/local-service.ts';
import {
  describeStoppable,
  exitCodeOf,
  pathOf,
  readStatuses,
  runStoppableTool,
  type StoppableTool,
} from './shared/stoppable-tool.ts';

const usage = `Usage: npm run projections -- <command>

  list                      show the status of each read model
  status                    show how far each is in the log, its rate, and the time that it needs
  rebuild <name>... | all   rebuild read models next to the current ones, then swap them in
  retry <name>              let a stopped projection retry the event at which it stopped
  skip <name> <event id>    let a stopped projection skip the event at which it stopped

It talks to the service that runs on DATA_DIR, or opens the stores itself when none runs.
`;

const pollIntervalMs = 200;
const terminal = process.stdout.isTTY === true;

const tool = {
  name: 'projections',
  usage,
  describe: lineOf,
  otherCommands: ['rebuild'],
  otherAction: (command, names) =>
    command === 'rebuild' && names.length > 0 ? (service) => rebuild(service, names) : null,
} satisfies StoppableTool<ProjectionStatus>;

await runStoppableTool(tool);

async function rebuild(service: LocalService, asked: ReadonlyArray<string>): Promise<number> {
  const names = asked[0] === 'all' ? (await statuses(service)).map(({ name }) => name) : asked;
  const begun = new Map<string, number>();
  for (const name of names) {
    const answer = await service.call('POST', pathOf(tool, name, 'rebuild'));
    if (exitCodeOf(tool, answer) !== 0) return 1;
    begun.set(name, answer.position);
  }
  return follow(service, begun);
}

/** Waits until every rebuild that was requested at these positions has ended. */
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
    await sleep(pollIntervalMs);
  }
}

function isOver({ rebuild: progress, begunAt, state }: ProjectionStatus, askedAt: number): boolean {
  return progress === null && (begunAt >= askedAt || state === 'stopped');
}

/** Writes the line, on a terminal in place of the line before. */
function write(line: string): void {
  process.stdout.write(terminal ? `\r\x1b[2K${line}` : line);
}

function lineOf(status: ProjectionStatus): string {
  const { name, rebuild: progress } = status;
  if (progress !== null) {
    const percent = progress.target === 0 ? 100 : Math.floor((100 * progress.position) / progress.target);
    const left = progress.secondsLeft === null ? '' : `, ${progress.secondsLeft} s left`;
    return `${name} ${percent}% (${progress.eventsPerSecond} events/s${left})`;
  }
  const incomplete = describeIncompleteStreams(status.incompleteStreams);
  return `${describeStoppable(status)}${incomplete === '' ? '' : `; ${incomplete}`}`;
}

function statuses(service: LocalService): Promise<ReadonlyArray<ProjectionStatus>> {
  return readStatuses<ProjectionStatus>(tool, service);
}
