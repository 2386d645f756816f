import { HeldTime, type SentRenewal } from '#leases/held-time.ts';
import type { LeaseTerm } from '#leases/lease-store.ts';
import { Sightings } from '#leases/sightings.ts';

/**
 * The expiries that a round may want. Their holder counts for 2 and 4 units of time, and the clock of the other node sees
 * them as over after 2.1 and 4.2 units at the earliest.
 */
export const expiries = [2.5, 5] as const;
/** The rates of the clocks of the two nodes. */
export type Rates = readonly [number, number];

/** What a node may still do. */
export interface Budget {
  readonly looks: number;
  readonly begins: number;
  readonly renewals: number;
}

/** A message on its way, to the store or from it. One that is never delivered is lost. */
type Message = { readonly node: number } & (
  | { readonly kind: 'look'; readonly askedAt: number; readonly of: Asker }
  | { readonly kind: 'begin'; readonly begun: BegunTerm }
  | { readonly kind: 'renew'; readonly round: Round }
  | { readonly kind: 'remove'; readonly token: number }
  | { readonly kind: 'seen'; readonly askedAt: number; readonly of: Asker; readonly newest: LeaseTerm | null }
  | { readonly kind: 'begun'; readonly begun: BegunTerm; readonly isFirst: boolean }
  | { readonly kind: 'renewed'; readonly round: Round; readonly isAll: boolean }
);

interface BegunTerm {
  readonly token: number;
  readonly sentAt: number;
  readonly expiryMs: number;
}

/** A round that renews one term. */
interface Round {
  readonly number: number;
  readonly token: number;
  readonly expiryMs: number;
  /** The renewal as its holder counts with it before the answer. */
  readonly sent: SentRenewal;
  readonly isFirst: boolean;
  /** The expiry that the node would write when it answers. */
  readonly nextMs: number;
}

/** Who looks: a candidate, or a round that needs a look. */
type Asker = 'candidate' | { readonly round: Round; readonly isAll: boolean };

interface OwnTerm {
  readonly token: number;
  readonly held: HeldTime;
  readonly isConfirmed: boolean;
  readonly nextMs: number;
}

interface ModelNode {
  readonly sightings: Sightings;
  /** The term that it may begin, because it has seen the one before as over. */
  readonly mayBegin: number | null;
  readonly own: OwnTerm | null;
  readonly rounds: number;
  readonly left: Budget;
}

/** A moment of two nodes, a store and the messages between them. */
export interface Moment {
  readonly now: number;
  readonly terms: ReadonlyArray<LeaseTerm>;
  readonly nodes: readonly [ModelNode, ModelNode];
  readonly messages: ReadonlyArray<Message>;
}

const name = 'work';

/** Two nodes that compete for one lease. It uses the decisions of the service, and tries every order of all messages. */
export class LeaseModel {
  readonly #rates: Rates;
  readonly #until: number;

  /** @param until the last moment */
  constructor(rates: Rates, until: number) {
    this.#rates = rates;
    this.#until = until;
  }

  /** Returns the moment in which the first node has just begun a term, and knows it. */
  first(expiryMs: number, nextMs: number, holder: Budget, candidate: Budget): Moment {
    const node = { sightings: new Sightings(), mayBegin: null, own: null, rounds: 0 };
    const term = { token: 1, holder: '0', renewals: 0, expiryMs, released: false };
    const held = new HeldTime({ sentAt: 0, expiryMs });
    const own: OwnTerm = { token: 1, held, isConfirmed: true, nextMs };
    const nodes = [
      { ...node, own, left: holder },
      { ...node, left: candidate },
    ] as const;
    return { now: 0, terms: [term], nodes, messages: [] };
  }

  /** The nodes that count on a term. */
  holders({ now, nodes }: Moment): ReadonlyArray<number> {
    const counts = ({ own }: ModelNode, node: number) =>
      own?.isConfirmed === true && own.held.remainingMs(this.#clock(node, now)) > 0;
    return [0, 1].filter((node) => counts(nodes[node] as ModelNode, node));
  }

  /** Whether both nodes may still hold a term. */
  canBothHold({ nodes, messages }: Moment): boolean {
    const mayHold = ({ own, left }: ModelNode, node: number) =>
      own !== null ||
      left.begins > 0 ||
      messages.some((message) => message.node === node && (message.kind === 'begin' || message.kind === 'begun'));
    return nodes.every(mayHold);
  }

  /** Returns every moment that may follow. */
  *next(moment: Moment): Iterable<Moment> {
    if (moment.now < this.#until) yield { ...moment, now: moment.now + 1 };
    for (const node of [0, 1]) yield* this.#acts(moment, node);
    for (const [place, message] of moment.messages.entries()) {
      const messages = moment.messages.toSpliced(place, 1);
      yield this.#deliver({ ...moment, messages }, message);
    }
  }

  #clock(node: number, now: number): number {
    return now * (this.#rates[node] ?? 1);
  }

  /** What a node may do by itself. */
  *#acts(moment: Moment, node: number): Iterable<Moment> {
    const self = moment.nodes[node] as ModelNode;
    const { left, own, mayBegin } = self;
    const now = this.#clock(node, moment.now);
    if (own === null && mayBegin === null && left.looks > 0) {
      const looking = change(moment, node, { left: { ...left, looks: left.looks - 1 } });
      yield send(looking, { node, kind: 'look', askedAt: now, of: 'candidate' });
    }
    if (own === null && mayBegin !== null && left.begins > 0) {
      const beginning = change(moment, node, { mayBegin: null, left: { ...left, begins: left.begins - 1 } });
      for (const expiryMs of expiries)
        yield send(beginning, { node, kind: 'begin', begun: { token: mayBegin, sentAt: now, expiryMs } });
    }
    // A term that has lapsed is lost.
    if (own !== null && own.held.remainingMs(now) <= 0) yield change(moment, node, { own: null });
    if (own !== null && own.held.remainingMs(now) > 0 && left.renewals > 0)
      for (const wantedMs of expiries) yield this.#renew(moment, node, own, wantedMs);
  }

  #renew(moment: Moment, node: number, own: OwnTerm, wantedMs: number): Moment {
    const self = moment.nodes[node] as ModelNode;
    const sent: SentRenewal = { sentAt: this.#clock(node, moment.now), expiryMs: own.nextMs };
    const number = self.rounds + 1;
    const expiryMs = Math.max(wantedMs, own.nextMs);
    const round: Round = { number, token: own.token, expiryMs, sent, isFirst: !own.isConfirmed, nextMs: wantedMs };
    const left = { ...self.left, renewals: self.left.renewals - 1 };
    const renewing = change(moment, node, { rounds: number, left, own: { ...own, held: own.held.sent(sent) } });
    return send(renewing, { node, kind: 'renew', round });
  }

  #deliver(moment: Moment, message: Message): Moment {
    const { node } = message;
    switch (message.kind) {
      case 'look': {
        const newest = moment.terms.toSorted((one, other) => other.token - one.token)[0] ?? null;
        return send(moment, { node, kind: 'seen', askedAt: message.askedAt, of: message.of, newest });
      }
      case 'begin':
        return this.#insert(moment, node, message.begun);
      case 'remove':
        return { ...moment, terms: moment.terms.filter((term) => term.token >= message.token) };
      case 'renew':
        return this.#update(moment, node, message.round);
      case 'begun':
        return message.isFirst ? this.#begun(moment, node, message.begun) : moment;
      case 'renewed':
        return this.#renewed(moment, node, message.round, message.isAll);
      case 'seen':
        return this.#seen(moment, message);
    }
  }

  #insert(moment: Moment, node: number, begun: BegunTerm): Moment {
    const { token, expiryMs } = begun;
    const isFirst = moment.terms.every((term) => term.token !== token);
    const answered = send(moment, { node, kind: 'begun', begun, isFirst });
    if (!isFirst) return answered;
    const term = { token, holder: `${node}`, renewals: 0, expiryMs, released: false };
    return send({ ...answered, terms: [...answered.terms, term] }, { node, kind: 'remove', token });
  }

  #update(moment: Moment, node: number, round: Round): Moment {
    const { token, number: renewals, expiryMs } = round;
    const isRenewable = (term: LeaseTerm) => term.token === token && term.renewals < renewals;
    const terms = moment.terms.map((term) => (isRenewable(term) ? { ...term, renewals, expiryMs } : term));
    return send({ ...moment, terms }, { node, kind: 'renewed', round, isAll: moment.terms.some(isRenewable) });
  }

  #renewed(moment: Moment, node: number, round: Round, isAll: boolean): Moment {
    if (isAll && !round.isFirst) return this.#acknowledge(moment, node, round, null);
    return send(moment, { node, kind: 'look', askedAt: this.#clock(node, moment.now), of: { round, isAll } });
  }

  #begun(moment: Moment, node: number, { token, sentAt, expiryMs }: BegunTerm): Moment {
    const held = new HeldTime({ sentAt, expiryMs });
    return change(moment, node, { own: { token, held, isConfirmed: false, nextMs: expiryMs } });
  }

  #seen(moment: Moment, { node, askedAt, of, newest }: Message & { readonly kind: 'seen' }): Moment {
    const { sightings } = moment.nodes[node] as ModelNode;
    const found = new Map(newest === null ? [] : [[name, newest]]);
    const judged = sightings.judge(found, askedAt).get(name);
    const noted = change(moment, node, { sightings: sightings.note(found, askedAt, this.#clock(node, moment.now)) });
    if (of !== 'candidate') return this.#acknowledge(noted, node, of.round, { newest, isAll: of.isAll });
    const mayBegin = judged?.isOver === false ? null : (judged?.token ?? 0) + 1;
    return change(noted, node, { mayBegin });
  }

  #acknowledge(
    moment: Moment,
    node: number,
    round: Round,
    look: { readonly newest: LeaseTerm | null; readonly isAll: boolean } | null,
  ): Moment {
    const { own, sightings } = moment.nodes[node] as ModelNode;
    if (own === null || own.token !== round.token) return moment;
    const isSuperseded = sightings.tokenOf(name) > own.token || (look !== null && look.newest?.token !== own.token);
    if (isSuperseded) return change(moment, node, { own: null });
    if (look !== null && !look.isAll && (look.newest?.renewals ?? 0) < round.number) return moment;
    const now = this.#clock(node, moment.now);
    const held = own.held.acknowledge(round.sent, round.expiryMs, now);
    if (held.remainingMs(now) <= 0) return change(moment, node, { own: null });
    return change(moment, node, { own: { ...own, held, isConfirmed: true, nextMs: round.nextMs } });
  }
}

function send(moment: Moment, message: Message): Moment {
  return { ...moment, messages: [...moment.messages, message] };
}

function change(moment: Moment, node: number, changed: Partial<ModelNode>): Moment {
  const nodes = moment.nodes.map((one, index) => (index === node ? { ...one, ...changed } : one));
  return { ...moment, nodes: nodes as unknown as Moment['nodes'] };
}
