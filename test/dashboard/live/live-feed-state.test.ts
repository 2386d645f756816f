import assert from 'node:assert/strict';
import {
  describeLive,
  firstLiveState,
  type LiveEvent,
  nextLiveState,
  staleAfterMs,
} from '#dashboard/page/api/live-feed-state.ts';

const start = Date.parse('2026-11-20T14:00:00Z');

const stateAfter = (...events: ReadonlyArray<LiveEvent>) => events.reduce(nextLiveState, firstLiveState);
const wordAfter = (now: number, ...events: ReadonlyArray<LiveEvent>) =>
  describeLive(stateAfter(...events), now, 5_000).word;
const opened: LiveEvent = { type: 'opened', now: start, catchUpTo: null };

describe('live state of the dashboard', () => {
  it('becomes live when the feed opens', () => {
    assert.equal(wordAfter(start), 'Connecting');
    assert.equal(wordAfter(start, opened), 'Live');
  });

  it('catches up after a resume until the newest position arrives', () => {
    const entry = (position: number): LiveEvent => ({ type: 'entry', now: start, position });
    const resumed: LiveEvent = { type: 'opened', now: start, catchUpTo: 20 };
    assert.equal(wordAfter(start, opened, entry(10), resumed), 'Catching up');
    assert.equal(wordAfter(start, opened, entry(10), resumed, entry(15)), 'Catching up');
    assert.equal(wordAfter(start, opened, entry(10), resumed, entry(20)), 'Live');
    assert.equal(wordAfter(start, opened, entry(20), resumed), 'Live');
  });

  it('shows the time of the next connection attempt after a lost connection', () => {
    const state = stateAfter(opened, { type: 'lost', now: start, retryAt: start + 4_000 });
    assert.deepEqual(describeLive(state, start, 5_000), {
      tone: 'warn',
      word: 'Reconnecting',
      rest: 'next try in 4 s',
    });
  });

  it('becomes stale after 35 seconds of silence, and is no longer stale when anything arrives', () => {
    const late = start + staleAfterMs;
    assert.equal(wordAfter(late - 1, opened), 'Live');
    assert.equal(wordAfter(late, opened), 'Stale');
    assert.equal(wordAfter(late, opened, { type: 'lost', now: start, retryAt: late }), 'Stale');
    assert.equal(wordAfter(late, opened, { type: 'heard', now: late }), 'Live');
  });

  it('counts the waiting events during a pause, and resets the count at its end', () => {
    const entry: LiveEvent = { type: 'entry', now: start, position: 7 };
    const paused = stateAfter(opened, { type: 'paused' }, entry, entry);
    assert.deepEqual(describeLive(paused, start, 5_000), { tone: 'idle', word: 'Paused', rest: '2 waiting' });
    assert.equal(describeLive(nextLiveState(paused, { type: 'resumed' }), start, 5_000).word, 'Live');
  });

  it('polls when the service has no feed', () => {
    const polling = stateAfter({ type: 'unsupported', now: start });
    assert.deepEqual(describeLive(polling, start, 5_000), { tone: 'ok', word: 'Polling', rest: 'every 5 s' });
  });
});
