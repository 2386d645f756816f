import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { LeaderConnection } from '#event-store/eventstoredb/connection/connection.ts';
import { serverSettings } from '#event-store/eventstoredb/connection/server-settings.ts';
import { WakeUpSubscription } from '#event-store/eventstoredb/log/wake-ups.ts';
import { probeRequest } from '#event-store/eventstoredb/wire/requests.ts';
import { StreamNames } from '#event-store/eventstoredb/wire/stream-names.ts';
import { Availability } from '#shared/availability/availability.ts';
import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { eventually } from '#test/support/run/eventually.ts';

/** Shows the signal that a subscription lives by, and waits only a little before the next subscription. */
class HastyAvailability extends Availability {
  readonly signals = new Set<AbortSignal>();

  override waitForRecovery(_milliseconds: number, signal: AbortSignal): Promise<void> {
    this.signals.add(signal);
    return super.waitForRecovery(5, signal);
  }
}

describe('WakeUpSubscription', () => {
  it('leaves no listener behind for subscriptions that the server has dropped', async () => {
    const double = await EventStoreDbDouble.start();
    const names = new StreamNames({ streamPrefix: 'test.' });
    const connection = new LeaderConnection({
      settings: serverSettings(double.url),
      question: probeRequest(names),
      onAnswer: () => {},
      onFailure: () => {},
    });
    const availability = new HastyAvailability({
      server: 'EventStoreDB',
      probe: async () => {},
      explain: async () => ({ detail: 'it is down', isPermanent: false }),
      isAnswer: () => true,
      timedOut: () => new Error('silent'),
    });
    const wakeUps = new WakeUpSubscription(connection, availability, names, 1_000);
    const stop = wakeUps.start({ end: () => 0, onStored: () => {}, onForeign: () => {} });
    for (let drops = 0; drops < 5; drops += 1) {
      await eventually(() => double.subscriptions === 1);
      double.dropSubscribers();
      await eventually(() => double.subscriptions === 0);
    }
    await eventually(() => double.subscriptions === 1);
    const [signal] = availability.signals;
    const listeners = signal === undefined ? null : getEventListeners(signal, 'abort').length;
    stop();
    await availability.close();
    await connection.close();
    await double.kill();
    assert.equal(listeners, 1);
  });
});
