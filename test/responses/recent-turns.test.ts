import assert from 'node:assert/strict';
import { defaultRecentTurnBytes, RecentTurns } from '#responses/recent-turns.ts';
import type { KeptTurn } from '#responses/turn.ts';
import { TurnText } from '#responses/turn-text.ts';
import { storedResponse } from '#test/contract/response-store.ts';

const projectId = 'project1';
const subject = 'subject1';

function turnOf(id: string, bytes: number, marks = 0): KeptTurn {
  const { content: _, needs: __, items: ___, ...outline } = storedResponse(id, { projectId });
  return { outline, text: new TurnText(Buffer.alloc(bytes), new Uint32Array(5 * marks).fill(kept)) };
}

/** The kind of what is left out. */
const kept = 6;

describe('RecentTurns', () => {
  let turns: RecentTurns;
  beforeEach(() => {
    turns = new RecentTurns(defaultRecentTurnBytes);
  });

  const found = (ids: ReadonlyArray<string>) => ids.filter((id) => turns.find({ projectId, subject, id }) !== null);
  const keepAll = (count: number, make: (id: string) => KeptTurn) => {
    const ids = Array.from({ length: count }, (_, index) => `r${index}`);
    for (const id of ids) turns.keep(subject, make(id));
    return found(ids);
  };

  it('keeps the latest turns, within its bytes', () => {
    const kept = keepAll(1_000, (id) => turnOf(id, 64 * 1024));
    assert.ok(kept.length > 400 && kept.length < 520, `${kept.length}`);
    assert.equal(kept.at(-1), 'r999');
  });

  it('counts the marks in a turn, because a short text can have many', () => {
    const kept = keepAll(1_000, (id) => turnOf(id, 40_000, 3_000));
    assert.ok(kept.length > 200 && kept.length < 400, `${kept.length}`);
  });

  it('keeps nothing without memory', () => {
    turns = new RecentTurns(0);
    assert.deepEqual(
      keepAll(3, (id) => turnOf(id, 10)),
      [],
    );
  });

  it('keeps no large turn', () => {
    assert.deepEqual(
      keepAll(1, (id) => turnOf(id, 1024 * 1024)),
      [],
    );
  });

  it('has no turn under another key or of another project', () => {
    turns.keep(subject, turnOf('r1', 10));
    assert.equal(turns.find({ projectId, subject: 'subject2', id: 'r1' }), null);
    assert.equal(turns.find({ projectId: 'project2', subject, id: 'r1' }), null);
    turns.keep('subject2', turnOf('r1', 20));
    assert.equal(turns.find({ projectId, subject: 'subject2', id: 'r1' })?.text.bytes.length, 20);
    assert.equal(turns.find({ projectId, subject, id: 'r1' }), null);
  });

  it('drops turns, and all of a project', () => {
    keepAll(4, (id) => turnOf(id, 10));
    turns.drop(projectId, ['r1', 'r9']);
    assert.deepEqual(found(['r0', 'r1', 'r2', 'r3']), ['r0', 'r2', 'r3']);
    turns.dropProject('project');
    assert.deepEqual(found(['r0']), ['r0']);
    turns.dropProject(projectId);
    assert.deepEqual(found(['r0', 'r2', 'r3']), []);
  });
});
