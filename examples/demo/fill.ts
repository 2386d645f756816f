import { demoCustomers } from './content/customers.ts';
import { deliveryTracker } from './content/delivery-tracker.ts';
import { dentalReception } from './content/dental-reception.ts';
import { DemoError } from './demo-error.ts';
import { type CallingKey, DemoPartner } from './partner.ts';
import type { PlatformClient } from './platform-client.ts';
import type { Timeline } from './timeline.ts';

export interface Filled {
  readonly partner: CallingKey;
  /** The id of the partner's own flow. */
  readonly welcome: string;
  /** The key of Harbour Street Dental. */
  readonly customerKey: string;
  readonly upgraded: string;
  readonly changedByHand: string;
  readonly notUpgraded: string;
  readonly undone: string;
  readonly newestReception: string;
  readonly newestTracker: string;
  readonly callingKeys: ReadonlyArray<CallingKey>;
}

type Step = readonly [daysAgo: number, time: string, act: (partner: DemoPartner) => Promise<string>];

const { lindenhof, harbourStreet, okafor, kestrel, avonValley } = demoCustomers;

/** What the partner does in a month. The last upgrade fails and is undone. */
const month: ReadonlyArray<Step> = [
  [29, '10:05', (partner) => partner.publish('dentalReception')],
  [28, '09:20', (partner) => partner.publish('deliveryTracker')],
  [27, '09:40', (partner) => partner.addCustomer(lindenhof)],
  [27, '15:10', (partner) => partner.changeWelcome()],
  [26, '11:30', (partner) => partner.speak('en')],
  [25, '10:15', (partner) => partner.addNumber('Sales', '+44 20 7946 0111')],
  [24, '14:00', (partner) => partner.addCustomer(okafor)],
  [23, '09:30', (partner) => partner.publish('dentalReception')],
  [22, '10:45', (partner) => partner.changeWelcome()],
  [21, '13:20', (partner) => partner.upgrade(lindenhof)],
  [20, '09:05', (partner) => partner.publish('deliveryTracker')],
  [19, '16:40', (partner) => partner.addCustomer(harbourStreet)],
  [18, '08:50', (partner) => partner.addCustomer(kestrel)],
  [17, '12:10', (partner) => partner.switchTestKey()],
  [16, '10:30', (partner) => partner.addCustomer(avonValley)],
  [15, '15:45', (partner) => partner.changeWelcome()],
  [14, '09:55', (partner) => partner.publish('dentalReception')],
  [13, '11:15', (partner) => partner.upgrade(lindenhof)],
  [12, '14:25', (partner) => partner.assignPhoneNumber(lindenhof)],
  [11, '10:00', (partner) => partner.changeWelcome()],
  [11, '10:40', (partner) => partner.rollBackWelcome(3)],
  [9, '16:20', (partner) => partner.changeGreeting(harbourStreet)],
  [8, '09:15', (partner) => partner.publish('deliveryTracker')],
  [7, '11:50', (partner) => partner.speak('en', 'cy')],
  [6, '13:35', (partner) => partner.upgrade(kestrel)],
  [5, '10:20', (partner) => partner.addNumber('Support', '+44 20 7946 0122')],
  [4, '15:30', (partner) => partner.changeWelcome()],
  [3, '09:45', (partner) => partner.switchTestKey()],
  [2, '12:55', (partner) => partner.changeWelcome()],
  [2, '14:10', (partner) => partner.rollBackWelcome(5)],
  [1, '10:35', (partner) => partner.upgrade(avonValley)],
];

/**
 * Through the public API: a partner, its templates, its customers and their instances.
 * @param admin with an admin key of an empty platform
 * @throws DemoError
 */
export async function fillPlatform(admin: PlatformClient, { moveTo, print }: Timeline): Promise<Filled> {
  await moveTo(29, '09:10');
  const partner = await DemoPartner.create(admin);
  print('partner Parley Voice, with a project and a key');
  for (const [daysAgo, time, act] of month) {
    await moveTo(daysAgo, time);
    print(await act(partner));
  }
  const undone = partner.instanceOf(avonValley).record;
  if (undone.lastOperation?.outcome !== 'undone') throw new DemoError('The upgrade that is to be undone was not.');
  return {
    partner: partner.key,
    welcome: partner.welcomeId,
    customerKey: partner.instanceOf(harbourStreet).key.secret,
    upgraded: partner.instanceOf(lindenhof).record.id,
    changedByHand: partner.instanceOf(harbourStreet).record.id,
    notUpgraded: partner.instanceOf(okafor).record.id,
    undone: undone.id,
    newestReception: partner.versionOf('dentalReception', dentalReception.versions.length),
    newestTracker: partner.versionOf('deliveryTracker', deliveryTracker.versions.length),
    callingKeys: partner.callingKeys,
  };
}
