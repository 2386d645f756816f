import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { runWorld, type WorldResult } from './world.ts';

const usage = `Usage: npm run worlds -- <count> [--from <seed>]   runs worlds, from seed 1 on or from another one;
                                                   --until <text> ends them at a problem that has it
       npm run worlds -- --seed <seed>             runs one, and prints its calls
`;
const progressEvery = 100;

/** What a process reports of a world. */
type Report = Pick<WorldResult, 'seed' | 'problems'>;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string' },
    from: { type: 'string', default: '1' },
    step: { type: 'string' },
    until: { type: 'string' },
  },
});
const count = Number(positionals[0]);
const from = Number(values.from);
if (values.seed !== undefined) await replay(Number(values.seed));
else if (!(count > 0)) print(usage);
else if (values.step !== undefined) await runSome(from, count, Number(values.step));
else await runAll(from, count);

function print(text: string): void {
  process.stdout.write(text);
}

async function replay(seed: number): Promise<void> {
  const { lines, problems, endedAt } = await runWorld(seed);
  print(`${lines.join('\n')}\n`);
  print(`The world of seed ${seed} ended after ${Math.round(endedAt)} ms. ${textOf(problems)}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

/** Runs every `step`th world in this process, and reports to its parent. */
async function runSome(first: number, worlds: number, step: number): Promise<void> {
  for (let seed = first; seed < first + worlds; seed += step) {
    const { problems } = await runWorld(seed);
    process.send?.({ seed, problems } satisfies Report);
  }
  process.disconnect();
}

/** Divides worlds among as many processes as the machine has cores. */
async function runAll(first: number, worlds: number): Promise<void> {
  const processes = Math.min(availableParallelism(), worlds);
  const began = performance.now();
  let done = 0;
  const failed: number[] = [];
  const onReport = ({ seed, problems }: Report) => {
    done += 1;
    if (problems.length > 0) {
      failed.push(seed);
      print(`npm run worlds -- --seed ${seed}: ${textOf(problems)}\n`);
      const isWanted = values.until !== undefined && textOf(problems).includes(values.until);
      if (isWanted) for (const child of children) child.kill();
    }
    if (done % progressEvery === 0 || done === worlds)
      print(`${done} of ${worlds} worlds, ${failed.length} with a problem, ${seconds(began)} s\n`);
  };
  const children = Array.from({ length: processes }, (_, index) => {
    const left = String(worlds - index);
    return fork(import.meta.filename, [left, '--from', String(first + index), '--step', String(processes)]);
  });
  await Promise.all(children.map((child) => reportsOf(child, onReport)));
  process.exitCode = failed.length === 0 && done === worlds ? 0 : 1;
}

function reportsOf(child: ChildProcess, onReport: (report: Report) => void): Promise<void> {
  child.on('message', (report) => onReport(report as Report));
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

function seconds(began: number): number {
  return Math.round((performance.now() - began) / 1000);
}

function textOf(problems: ReadonlyArray<string>): string {
  return problems.length === 0 ? 'Nothing is wrong.' : problems.join('; ');
}
