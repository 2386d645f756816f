import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type TurnKind, TurnQueue, type WaitingWork } from '#exchange/turns.ts';

/** Waiting work with a name: the project, the kind and a number, such as `a list 1`. */
interface NamedWork extends WaitingWork {
  readonly name: string;
}

function waiting(name: string, hasLeft = false): NamedWork {
  const [owner = '', kind] = name.split(' ');
  const nothing = () => undefined;
  return { name, held: { owner, hasLeft }, kind: kind as TurnKind, begin: nothing, giveUp: nothing };
}

/** A turn of 100 in which work waits, each piece of the same size. */
function given(...names: ReadonlyArray<string>) {
  const queue = new TurnQueue(100);
  for (const name of names) queue.push(waiting(name));
  /** Serves until the turn is used up. @returns the names of what was served */
  const serve = (sizeOf: (name: string) => number) => {
    const served: string[] = [];
    for (let next = queue.shift() as NamedWork | undefined; next; next = queue.shift() as NamedWork | undefined) {
      served.push(next.name);
      queue.spend(next.held, next.kind, sizeOf(next.name));
    }
    return served;
  };
  return {
    queue,
    whenServed: (size: number, sizes: Readonly<Record<string, number>> = {}) => ({
      thenTurnsAre: (...expected: ReadonlyArray<ReadonlyArray<string>>) => {
        for (const turn of expected) {
          queue.beginTurn();
          assert.deepEqual(
            serve((name) => sizes[name] ?? size),
            turn,
          );
        }
        assert.equal(queue.size, 0);
      },
    }),
  };
}

describe('TurnQueue', () => {
  it('serves all that fits into a turn', () => {
    given('a list 1', 'a list 2', 'b list 1').whenServed(10).thenTurnsAre(['a list 1', 'a list 2', 'b list 1']);
  });

  it('gives each project that waits a turn of its own if it wants all of it', () => {
    given('a list 1', 'a list 2', 'a list 3', 'b list 1', 'b list 2')
      .whenServed(50)
      .thenTurnsAre(['a list 1', 'a list 2'], ['b list 1', 'b list 2'], ['a list 3']);
  });

  it('gives another project what one leaves of a turn', () => {
    given('a list 1', 'b list 1', 'b list 2').whenServed(60).thenTurnsAre(['a list 1', 'b list 1'], ['b list 2']);
  });

  it('serves the kinds of one project in turn', () => {
    given('a list 1', 'a list 2', 'a audit 1', 'a past 1')
      .whenServed(20)
      .thenTurnsAre(['a list 1', 'a audit 1', 'a past 1', 'a list 2']);
  });

  it('gives a kind half of a turn while another waits', () => {
    given('a list 1', 'a list 2', 'a list 3', 'a list 4', 'a audit 1', 'a audit 2', 'a audit 3')
      .whenServed(25)
      .thenTurnsAre(['a list 1', 'a audit 1', 'a list 2', 'a audit 2'], ['a list 3', 'a audit 3', 'a list 4']);
  });

  it('gives a kind no more than half also if another project waits for another kind', () => {
    given('a list 1', 'a list 2', 'a list 3', 'b audit 1')
      .whenServed(25)
      .thenTurnsAre(['a list 1', 'a list 2', 'b audit 1', 'a list 3']);
  });

  it('gives a kind that waits alone the whole turn', () => {
    given('a list 1', 'a list 2', 'b list 1', 'b list 2')
      .whenServed(25)
      .thenTurnsAre(['a list 1', 'a list 2', 'b list 1', 'b list 2']);
  });

  it('serves projects before kinds: one of many kinds gets no more than one of a single kind', () => {
    given('a list 1', 'a audit 1', 'a past 1', 'a history 1', 'b list 1')
      .whenServed(50)
      .thenTurnsAre(['a list 1', 'a audit 1'], ['b list 1', 'a past 1'], ['a history 1']);
  });

  it('lets a piece exceed the turn, and then nothing else begin in it', () => {
    given('a body 1', 'b list 1').whenServed(10, { 'a body 1': 1_000 }).thenTurnsAre(['a body 1'], ['b list 1']);
  });

  it('counts what work gives back', () => {
    const { queue } = given('a list 1');
    queue.spend({ owner: 'a', hasLeft: false }, 'list', 100);
    assert.equal(queue.shift(), undefined);
    queue.spend({ owner: 'a', hasLeft: false }, 'list', -1);
    assert.notEqual(queue.shift(), undefined);
  });

  it('removes the work of clients that have left, and keeps whose turn it is', () => {
    const { queue, whenServed } = given('a list 1', 'b list 1');
    queue.push(waiting('b list 2', true));
    queue.push(waiting('c list 1', true));
    const removed = queue.removeLeft() as ReadonlyArray<NamedWork>;
    assert.deepEqual(
      removed.map(({ name }) => name),
      ['b list 2', 'c list 1'],
    );
    whenServed(60).thenTurnsAre(['a list 1', 'b list 1']);
  });

  it('gives a project of one kind its share beside one that waits for that kind and another', () => {
    const { a = 0, b = 0 } = sharesOf({ a: { kinds: ['body', 'list'], size: 5 }, b: { kinds: ['body'], size: 5 } });
    assert.ok(b > 0.3, `b has ${b} of the work, a ${a}`);
  });

  it('serves a small piece of another kind soon, however many projects wait with pieces larger than a turn', () => {
    for (const projects of [1, 10, 50]) {
      const { queue } = given();
      const waitForOneMore = (owner: string) => queue.push(waiting(`${owner} body 1`));
      const serveTurn = () => {
        const served: string[] = [];
        queue.beginTurn();
        for (let next = queue.shift() as NamedWork | undefined; next; next = queue.shift() as NamedWork | undefined) {
          served.push(next.name);
          queue.spend(next.held, next.kind, next.kind === 'body' ? 200 : 1);
          if (next.kind === 'body') waitForOneMore(next.held.owner);
        }
        return served;
      };
      for (let project = 0; project < projects; project += 1) waitForOneMore(`p${project}`);
      for (let turn = 0; turn < 2 * projects; turn += 1) serveTurn();
      queue.push(waiting('z stream 1'));
      const served = [...serveTurn(), ...serveTurn()];
      assert.ok(served.includes('z stream 1'), `beside ${projects} projects: ${served.join()}`);
    }
  });

  it('gives a kind that has long waited alone its half when another comes', () => {
    const { queue } = given();
    const serve = (kinds: ReadonlyArray<TurnKind>, turns: number) => {
      const served: TurnKind[] = [];
      for (let turn = 0; turn < turns; turn += 1) {
        for (const kind of kinds) for (let piece = 0; piece < 10; piece += 1) queue.push(waiting(`a ${kind} 1`));
        queue.beginTurn();
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          queue.spend(next.held, next.kind, 10);
          served.push(next.kind);
        }
      }
      return served;
    };
    serve(['list'], 100);
    const lists = serve(['list', 'audit'], 4).filter((kind) => kind === 'list');
    assert.ok(lists.length >= 15, `${lists.length} of 40 are lists`);
  });

  it('serves one of two kinds in each turn, although both have had more than their halves', () => {
    given('a body 1', 'a body 2', 'a list 1', 'a list 2')
      .whenServed(1_000)
      .thenTurnsAre(['a body 1'], ['a list 1'], ['a body 2'], ['a list 2']);
  });

  it('removes any number of pieces of clients that have left', () => {
    const { queue } = given();
    for (let piece = 0; piece < 150_000; piece += 1) queue.push(waiting('a list 1', true));
    assert.equal(queue.removeLeft().length, 150_000);
    assert.equal(queue.size, 0);
  });

  const kinds: ReadonlyArray<TurnKind> = ['list', 'audit', 'past'];
  const work = fc.record({ owner: fc.constantFrom('a', 'b', 'c'), kind: fc.constantFrom(...kinds), size: fc.nat(150) });

  const project = fc.record({
    kinds: fc.subarray([...kinds], { minLength: 1 }),
    size: fc.integer({ min: 1, max: 30 }),
  });

  it('gives each project that waits at least about half of its equal share, whatever its kinds and pieces are', () => {
    fc.assert(
      fc.property(fc.array(project, { minLength: 2, maxLength: 5 }), (projects) => {
        const shares = Object.values(sharesOf(Object.fromEntries(projects.map((each, index) => [`p${index}`, each]))));
        for (const share of shares)
          assert.ok(share > 0.9 / (2 * projects.length), `the shares are ${shares.join(', ')}`);
      }),
    );
  });

  it('serves everything, each project and kind in its order, and no kind beyond its half while another waits', () => {
    fc.assert(
      fc.property(fc.array(work, { maxLength: 60 }), (all) => {
        const queue = new TurnQueue(100);
        const sizes = new Map<string, number>();
        for (const [index, { owner, kind, size }] of all.entries()) {
          const named = waiting(`${owner} ${kind} ${index}`);
          sizes.set(named.name, size);
          queue.push(named);
        }
        const served: string[] = [];
        for (let turn = 0; queue.size > 0 && turn <= all.length; turn += 1) {
          queue.beginTurn();
          const spent: Partial<Record<TurnKind, number>> = {};
          let kindsBefore = kindsThatWait(sizes, served);
          for (let next = queue.shift() as NamedWork | undefined; next; next = queue.shift() as NamedWork | undefined) {
            assert.ok(kindsBefore.size === 1 || (spent[next.kind] ?? 0) < 50, `${next.name} exceeds the half`);
            const size = sizes.get(next.name) ?? 0;
            spent[next.kind] = (spent[next.kind] ?? 0) + size;
            queue.spend(next.held, next.kind, size);
            served.push(next.name);
            kindsBefore = kindsThatWait(sizes, served);
          }
        }
        assert.equal(served.length, all.length);
        for (const names of Map.groupBy(served, (name) => name.replace(/ \d+$/, '')).values()) {
          const numbers = names.map((name) => Number(name.split(' ')[2]));
          assert.deepEqual(
            numbers,
            numbers.toSorted((one, other) => one - other),
          );
        }
      }),
    );
  });
});

/** Of each project, what it always waits for: its kinds of work, in pieces of one size. */
type Mix = Readonly<Record<string, { readonly kinds: ReadonlyArray<TurnKind>; readonly size: number }>>;

/** Returns each project's share of the work of many turns of 100. */
function sharesOf(mix: Mix): Readonly<Record<string, number>> {
  const queue = new TurnQueue(100);
  const work = Object.fromEntries(Object.keys(mix).map((owner) => [owner, 0]));
  for (const [owner, { kinds }] of Object.entries(mix))
    for (const kind of kinds) for (let piece = 0; piece < 3; piece += 1) queue.push(waiting(`${owner} ${kind} 1`));
  let total = 0;
  for (let turn = 0; turn < 300; turn += 1) {
    queue.beginTurn();
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const { owner } = next.held;
      const { size } = mix[owner] as Mix[string];
      queue.spend(next.held, next.kind, size);
      queue.push(next);
      work[owner] = (work[owner] ?? 0) + size;
      total += size;
    }
  }
  return Object.fromEntries(Object.entries(work).map(([owner, done]) => [owner, done / total]));
}

function kindsThatWait(sizes: ReadonlyMap<string, number>, served: ReadonlyArray<string>): ReadonlySet<string> {
  const isServed = new Set(served);
  return new Set([...sizes.keys()].filter((name) => !isServed.has(name)).map((name) => name.split(' ')[1] ?? ''));
}
