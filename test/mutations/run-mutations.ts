import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import '#test/support/run/temporary-files.ts';
import { Attempts, type Outcome } from './attempt.ts';
import { Checkout } from './checkout.ts';
import { chooseMutations, type Mutation } from './choose.ts';
import { ImportGraph } from './importers.ts';
import { MutatedTree } from './mutated-tree.ts';
import { changed } from './operators.ts';
import { PlacesOfCode } from './places-of-code.ts';
import { lineOf, type Result, Results } from './results.ts';
import { testsToTry } from './tests-to-try.ts';

/**
 * Compares the tests of two commits: each change of one list is made in a copy of either, and the tests look for it. Stryker
 * does not fit: it chooses the changes of one state of the code, but lines move and files get other names between the two.
 */
const usage = `Usage: npm run mutations                    tries each change of test/mutations/mutations.json
         --tree <folder>     in another checkout; default: this one
         --out <file>        where the results go; a file that has some is continued
         --against <file>    results of another checkout: what it found must be found
         --only <id>,<id>    some of the changes
         --jobs <number>     at the same time; default: 2
       npm run mutations -- --choose <seed>     chooses other changes, by a seed
`;
const root = join(import.meta.dirname, '../..');
const list = join(import.meta.dirname, 'mutations.json');
const count = 200;

const { values } = parseArgs({
  options: {
    tree: { type: 'string', default: root },
    out: { type: 'string', default: join(root, 'test-artefacts/mutations.json') },
    against: { type: 'string' },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    choose: { type: 'string' },
    help: { type: 'boolean' },
  },
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
if (values.help) print(usage);
else if (values.choose !== undefined) choose(Number(values.choose));
else await tryAll(new Checkout(values.tree));

function choose(seed: number): void {
  const mutations = chooseMutations(new Checkout(values.tree).product, count, seed);
  writeFileSync(list, `${JSON.stringify(mutations, null, 2)}\n`);
}

async function tryAll(checkout: Checkout): Promise<void> {
  const results = new Results(values.out);
  const earlier = values.against ? new Results(values.against) : null;
  const only = values.only?.split(',').map(Number);
  const mutations: ReadonlyArray<Mutation> = JSON.parse(readFileSync(list, 'utf8'));
  const waiting = mutations.filter(({ id }) => results.get(id) === undefined && (only?.includes(id) ?? true));
  const places = new PlacesOfCode(checkout.product);
  const graph = new ImportGraph(checkout.sources, checkout.aliases);
  const unchanged = new Map();

  const tryOne = async (mutation: Mutation, attempts: Attempts): Promise<Result> => {
    const { id, file, operator } = mutation;
    const place = places.find(mutation);
    if (place === null) return { id, file, operator, state: 'gone' };
    const text = changed(place.text, place.change);
    const began = performance.now();
    let outcome: Outcome = { state: 'missed', tests: 0 };
    for (const limited of testsToTry(graph, place.path, earlier?.get(id)))
      if (outcome.state === 'missed') outcome = await attempts.try({ file: place.path, text, ...limited });
    const seconds = Math.round(performance.now() - began) / 1000;
    return { id, file, operator, ...outcome, changedFile: place.path, seconds };
  };

  const work = async () => {
    const attempts = new Attempts(new MutatedTree(checkout), unchanged);
    for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
      const result = await tryOne(mutation, attempts);
      results.add(result);
      print(`${lineOf(result)}\n`);
    }
  };

  await Promise.all(Array.from({ length: Number(values.jobs) }, work));
  report(results, earlier);
}

/** Ends the process, with 1 if something is missed that was found before. */
function report(results: Results, earlier: Results | null): void {
  for (const [state, some] of Map.groupBy(results.all, ({ state }) => state)) print(`${some.length} ${state}\n`);
  const lost = results.all.filter(({ id, state }) => state !== 'found' && earlier?.get(id)?.state === 'found');
  for (const result of lost) print(`was found before: ${lineOf(result)}\n`);
  process.exit(lost.length === 0 ? 0 : 1);
}

function print(text: string): void {
  process.stdout.write(text);
}
