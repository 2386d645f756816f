import { Random } from '#test/worlds/random.ts';
import { SimulatedTime } from '#test/worlds/simulated-time.ts';
import type { ReceiverRequest } from '#webhooks/delivery/queue/endpoint-health.ts';
import { type DisabledByAnswers, EndpointQueue, type TryResult } from '#webhooks/delivery/queue/endpoint-queue.ts';
import {
  type DeliveryState,
  type Message,
  newDeliveryState,
  type OpenMessage,
} from '#webhooks/state/delivery-state.ts';

class Halves extends Random {
  override next(): number {
    return 0.5;
  }
}

let installed: SimulatedTime | null = null;

/** Replaces the clock until `endTime`. Random numbers are 0.5. */
export function beginTime(): SimulatedTime {
  endTime();
  installed = new SimulatedTime(new Halves(0)).install();
  return installed;
}

export function endTime(): void {
  installed?.[Symbol.dispose]();
  installed = null;
}

/** A message at a position. */
export const messageAt = (position: number, type = 'FlowRenamed'): Message => ({
  position,
  stream: 'flow-cflowone00000001',
  revision: position,
  type,
});

/** A receiver's reaction to a message: its delay in ms, and whether it accepts the message. */
export interface Reception {
  readonly ms: number;
  readonly kind: TryResult['kind'];
  /** The wait that it requests. */
  readonly receiverRequest?: Partial<ReceiverRequest>;
}

const nothingAsked: ReceiverRequest = { isGone: false, retryAfterMs: null, isForAll: false };

/** A try, with the time of its start. */
export interface SeenTry {
  readonly position: number;
  readonly at: number;
}

/** One endpoint's queue in simulated time, with a receiver that the test scripts. */
export class VirtualReceiver {
  readonly time: SimulatedTime;
  readonly tries: SeenTry[] = [];
  readonly outcomes: string[] = [];
  /** The followed position of the log. */
  followed: number;
  changes = 0;
  /** The reasons for which it was disabled. */
  readonly disabled: DisabledByAnswers[] = [];
  mostAtOnce = 0;
  #atOnce = 0;
  /** Decides the receiver's reaction to a message. */
  receive: (message: OpenMessage) => Reception = () => ({ ms: 10, kind: 'delivered' });
  readonly queue: EndpointQueue<TryResult>;

  constructor(time = beginTime(), state: DeliveryState = newDeliveryState(0), isEnabled = true, followed = 0) {
    this.time = time;
    this.followed = followed;
    this.queue = new EndpointQueue({
      state,
      isEnabled,
      followed: () => this.followed,
      deliver: (message) => this.#deliver(message),
      onTried: ({ position }, attempt, _, outcome) => this.outcomes.push(`${position}.${attempt} ${outcome}`),
      onChange: () => {
        this.changes += 1;
      },
      onRoom: () => undefined,
      onDisabled: (reason) => this.disabled.push(reason),
    });
    this.queue.passTo(state.position);
    this.queue.start();
  }

  /** Offers messages at these positions, as a follower of the log does. @returns whether each was accepted */
  follow(...positions: ReadonlyArray<number>): ReadonlyArray<boolean> {
    return positions.map((position) => {
      const taken = this.queue.offer(messageAt(position));
      this.followed = position;
      return taken;
    });
  }

  /** The positions of the tries, in the order in which they began. */
  get begun(): ReadonlyArray<number> {
    return this.tries.map(({ position }) => position);
  }

  #deliver(message: OpenMessage): Promise<TryResult> {
    const { ms, kind, receiverRequest } = this.receive(message);
    this.tries.push({ position: message.position, at: this.time.now });
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    return new Promise((resolve) => {
      this.time.in(ms, () => {
        this.#atOnce -= 1;
        resolve({ kind, receiverRequest: kind === 'failed' ? { ...nothingAsked, ...receiverRequest } : null });
      });
    });
  }
}
