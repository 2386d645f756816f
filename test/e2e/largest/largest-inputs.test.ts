import assert from 'node:assert/strict';
import { generateKeyPairSync, randomInt } from 'node:crypto';
import { DocumentedOperations } from '#test/e2e/support/documented-operations.ts';
import { newHolder, newProject } from '#test/e2e/support/tenants.ts';
import { writableEnvironment } from '#test/e2e/support/write-inputs.ts';
import { seededRandom } from '#test/soak/random.ts';
import { ProbedService } from '#test/support/probe/probed-service.ts';
import { long } from '#test/support/run/long.ts';
import { type LargestCase, largestCases, leftOut } from './largest-cases.ts';
import { type Measured, measureCase } from './measured-case.ts';
import { below } from './random-values.ts';
import { fileBytes } from './streaming-requests.ts';

const longTestMs = 1_800_000;
const sampleTestMs = 180_000;
const sampled = 6;

/** Of all random values. It is printed, so that a failure can be repeated. */
const seed = Number(process.env.LARGEST_INPUTS_SEED ?? randomInt(2 ** 31));

const environment = {
  DIGEST_SIGNING_KEY: generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  // The tests do not check how soon a write shows.
  READ_YOUR_WRITES_TIMEOUT_MS: '60000',
  ...writableEnvironment,
};

describe('the largest input of an operation', () => {
  let probed: ProbedService | undefined;
  let cases: ReadonlyArray<LargestCase> = [];
  let documented: ReadonlyArray<string> = [];

  before(async function () {
    this.timeout(sampleTestMs);
    probed = await ProbedService.start(environment);
    const { client } = probed;
    const operations = await DocumentedOperations.of(client);
    documented = operations.names;
    const projectOfReads = await newProject(client);
    const reader = { client: await newHolder(client, projectOfReads, 'admin'), projectId: projectOfReads };
    cases = largestCases({ client, operations, projectId: await newProject(client), reader, seed });
  });

  after(() => probed?.stop());

  const measureAll = async (wanted: ReadonlyArray<LargestCase>): Promise<ReadonlyArray<Measured>> => {
    assert.ok(probed !== undefined);
    const measured: Measured[] = [];
    for (const one of wanted) measured.push(await measureCase(probed, one));
    return measured;
  };

  const expectNoFaults = (measured: ReadonlyArray<Measured>) => {
    const faulty = measured.filter(({ faults }) => faults.length > 0);
    assert.equal(faulty.length, 0, `with LARGEST_INPUTS_SEED=${seed}:\n${faulty.map(faultLine).join('\n')}`);
  };

  it('is tried for each documented operation, or there is a reason', () => {
    const tried = new Set(cases.map(({ operation }) => operation));
    assert.deepEqual(
      documented.filter((name) => !tried.has(name) && !(name in leftOut)),
      [],
    );
  });

  it(`holds the main thread and memory of the service for little, in ${sampled} operations`, async function () {
    this.timeout(sampleTestMs);
    const random = seededRandom(seed);
    const quick = cases.filter(isQuick);
    const wanted = Array.from({ length: sampled }, () => quick.splice(below(random, quick.length), 1)).flat();
    expectNoFaults(await measureAll(wanted));
  });

  it(`holds the main thread and memory of the service for little, in all operations ${long}`, async function () {
    this.timeout(longTestMs);
    const measured = await measureAll(cases);
    process.stdout.write(tableOf(measured));
    expectNoFaults(measured);
  });
});

/** Whether its resources and its request are made quickly. */
function isQuick({ name, limitBytes }: LargestCase): boolean {
  return limitBytes <= fileBytes && !slow.test(name);
}

/** What waits for processes, reads the whole log, or needs hundreds of resources. */
const slow = /instance|batch|projection|digest|archive|proof|history|audit|^list_|dashboard|as of|template|diff/;

const faultLine = ({ name, faults }: Measured) => `  ${name}: ${faults.join('; ')}`;

const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(2);

/** A line for each operation: bytes sent and answered, milliseconds, and memory above idle. */
function tableOf(measured: ReadonlyArray<Measured>): string {
  const lines = measured.map((one) => {
    const { name, sentBytes, answeredBytes, longestMs, pausedMs, allowedMs, heldBytes, allowedBytes } = one;
    const bytes = `${String(sentBytes).padStart(10)} B sent ${String(answeredBytes).padStart(9)} B answered`;
    const time = `${longestMs.toFixed(0).padStart(5)} of ${allowedMs.toFixed(0)} ms`;
    const paused = `${pausedMs.toFixed(0).padStart(4)} ms of pauses`;
    return `  ${name.padEnd(42)} ${bytes} ${time.padEnd(16)} ${paused} at most ${mib(heldBytes)} of ${mib(allowedBytes)} MiB held`;
  });
  const omitted = Object.entries(leftOut).map(([name, reason]) => `  ${name}: left out, because ${reason}`);
  return `${[`  seed ${seed}`, ...lines, ...omitted].join('\n')}\n`;
}
