import { connect } from 'node:net';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip, { type MemberInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import { Metadata } from '@grpc/grpc-js';
import type { UnavailableCause } from '#shared/availability/availability.ts';
import { callFailure, isOfFollower, isUnanswered, silentServer } from './call-failure.ts';
import { NodeLink } from './node-link.ts';
import type { ServerSettings } from './server-settings.ts';

export interface AskedCluster {
  readonly settings: ServerSettings;
  /** A question that only the leader answers. */
  readonly question: ReadReq;
}

/**
 * Explains a failed call by what the nodes in the URL know about their cluster.
 * @param answerMs how long each node has for its answer
 * @returns null if no node answers, or if the cluster explains nothing
 */
export async function explainByCluster(
  cluster: AskedCluster,
  failure: unknown,
  answerMs: number,
): Promise<UnavailableCause | null> {
  const asked = await Promise.all(cluster.settings.seeds.map((seed) => viewOf(seed, cluster, answerMs)));
  const views = asked.filter((view) => view !== null);
  const [first] = views;
  if (first === undefined) return null;
  const leaders = addressesOf(views.flatMap(({ members }) => members).filter(isLeader));
  if (leaders.length === 0) return noLeader(first.members);
  const isReached = await isAnyReached(views, leaders, answerMs);
  if (!isReached) return unreachableLeader(leaders.join(', '));
  return isUnanswered(callFailure(failure)) ? silentServer : null;
}

/** True if the service reaches the leader under its address in the URL, or under one that it advertises. */
async function isAnyReached(
  views: ReadonlyArray<NodeView>,
  advertised: ReadonlyArray<string>,
  answerMs: number,
): Promise<boolean> {
  if (!views.every(({ isFollower }) => isFollower)) return true;
  // Another node may still name the leader that failed.
  const reached = await Promise.all(advertised.map((address) => accepts(address, answerMs)));
  return reached.includes(true);
}

function noLeader(members: ReadonlyArray<MemberInfo>): UnavailableCause {
  const alive = members.filter((member) => member.getIsAlive()).length;
  const hasMajority = alive > members.length / 2;
  const reason = hasMajority ? 'they start, or elect one' : 'a leader needs a majority: start the others';
  return {
    detail: `the cluster has no leader (alive nodes: ${alive} of ${members.length}); ${reason}`,
    isPermanent: false,
  };
}

function unreachableLeader(address: string): UnavailableCause {
  return {
    detail:
      'the cluster advertises an address of its leader that cannot be reached from here: unless the leader has just failed, set AdvertiseHostToClientAs and AdvertiseNodePortToClientAs (or NodeHostAdvertiseAs) on its nodes',
    isPermanent: false,
    address,
  };
}

interface NodeView {
  readonly members: ReadonlyArray<MemberInfo>;
  /** True if the node knows that it is not the leader. */
  readonly isFollower: boolean;
}

/** @returns null if the node does not answer */
async function viewOf(seed: string, cluster: AskedCluster, answerMs: number): Promise<NodeView | null> {
  const [members, isFollower] = await Promise.all([
    membersBy(seed, cluster.settings, answerMs),
    follows(seed, cluster, answerMs),
  ]);
  return members === null ? null : { members, isFollower };
}

async function follows(seed: string, { settings, question }: AskedCluster, answerMs: number): Promise<boolean> {
  const link = new NodeLink(seed, settings, { answered: () => {}, failed: () => {} });
  const failure = await link.ask(question, new Date(Date.now() + answerMs));
  link.close();
  return failure !== null && isOfFollower(callFailure(failure));
}

/** The members as the node knows them; null if it does not answer. A node without a leader answers too. */
function membersBy(
  address: string,
  { credentials, channelOptions }: ServerSettings,
  answerMs: number,
): Promise<ReadonlyArray<MemberInfo> | null> {
  const client = new GossipClient(address, credentials, channelOptions);
  return new Promise((resolve) => {
    const deadline = new Date(Date.now() + answerMs);
    client.read(new shared.Empty(), new Metadata(), { deadline }, (error, info) => {
      client.close();
      resolve(error === null ? info.getMembersList() : null);
    });
  });
}

function isLeader(member: MemberInfo): boolean {
  return member.getIsAlive() && member.getState() === gossip.MemberInfo.VNodeState.LEADER;
}

function addressesOf(members: ReadonlyArray<MemberInfo>): ReadonlyArray<string> {
  const addresses = members.flatMap((member) => {
    const endPoint = member.getHttpEndPoint();
    return endPoint === undefined ? [] : [`${endPoint.getAddress()}:${endPoint.getPort()}`];
  });
  return [...new Set(addresses)];
}

/** True if something accepts connections at the address, `host:port`. */
function accepts(address: string, withinMs: number): Promise<boolean> {
  const colon = address.lastIndexOf(':');
  return new Promise((resolve) => {
    const socket = connect({
      host: address.slice(0, colon),
      port: Number(address.slice(colon + 1)),
      timeout: withinMs,
    });
    const end = (isReached: boolean) => {
      socket.destroy();
      resolve(isReached);
    };
    socket.once('connect', () => end(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => end(false));
  });
}
