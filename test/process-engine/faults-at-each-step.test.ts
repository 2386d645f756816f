import assert from 'node:assert/strict';
import {
  type Fault,
  FaultyWorld,
  faults,
  leaseSteps,
  logSteps,
  recordSteps,
  type Step,
  steps,
} from './faulty-world.ts';

/** How long a fault lasts. */
const windowMs = 5_000;
/** Maximum time until everything works again. */
const recoveryMs = 30_000;
/** A term is left after 10 s, and its lease released. */
const stopMs = 11_000;

interface Cell {
  readonly step: Step;
  readonly fault: Fault;
  readonly lease: 'kept' | 'lost';
}

async function startedWorld(): Promise<FaultyWorld> {
  const world = new FaultyWorld();
  await world.create('0');
  assert.ok(await world.time.passUntil(() => world.missing('0').length === 0, 10_000), 'it starts');
  await world.time.pass(2_000);
  return world;
}

/** Adds a fault to a step while organizations are created, and waits until every process has reacted to all of them. */
async function tryFault({ step, fault, lease }: Cell): Promise<number> {
  await using world = await startedWorld();
  world.faulty = new Set([step]);
  world.fault = fault;
  await world.create('1');
  if (lease === 'lost') {
    await world.time.pass(100);
    world.losesLease = true;
  }
  await world.time.pass(2_400);
  world.losesLease = false;
  await world.create('2');
  await world.time.pass(windowMs - 2_400);
  world.faulty = new Set();
  const last = await world.create('3');

  const cell = `${step} ${fault}, lease ${lease}`;
  const missing = () => ['1', '2', '3'].flatMap((id) => world.missing(id));
  assert.ok(await world.time.passUntil(() => missing().length === 0, recoveryMs), `${cell}: ${missing()} stall`);
  await world.time.pass(recoveryMs);
  assert.ok((await world.savedPosition()) >= last, `${cell}: the checkpoints are stored`);
  assert.deepEqual(world.repeated, [], `${cell}: nothing is made twice`);
  assert.ok(await world.stop(stopMs), `${cell}: it stops`);
  return world.hits;
}

const cells: ReadonlyArray<Cell> = steps.flatMap((step) =>
  faults.flatMap((fault) => (['kept', 'lost'] as const).map((lease) => ({ step, fault, lease }))),
);

describe('A term of the processes', () => {
  for (const step of steps)
    it(`recovers from every fault of ${step}, with its lease and without`, async function () {
      this.timeout(60_000);
      let hits = 0;
      for (const cell of cells) if (cell.step === step) hits += await tryFault(cell);
      assert.ok(hits > 0, 'it meets the faults');
    });

  for (const [name, unavailable] of [
    ['the event store', logSteps],
    ['the store of leases, records and read models', [...leaseSteps, ...recordSteps, 'documents.list']],
  ] as const)
    it(`reacts within two seconds after ${name} was unavailable for a minute`, async () => {
      for (const moreMs of [0, 250, 500, 750, 1_000]) {
        await using world = await startedWorld();
        world.faulty = new Set(unavailable);
        // Its lease is lost by then.
        await world.time.pass(3_000);
        await world.create('1');
        await world.time.pass(57_000 + moreMs);
        assert.notDeepEqual(world.missing('1'), []);
        world.faulty = new Set();
        assert.ok(await world.time.passUntil(() => world.missing('1').length === 0, 2_000), `${world.missing('1')}`);
      }
    });
});
