import type { FieldValues } from '#domain/instance/field-values.ts';
import { postcodesOf } from './postcodes.ts';

export const partnerName = 'Parley Voice';

/** A customer with one instance. */
export interface DemoCustomer {
  readonly name: string;
  readonly clientEmail: string;
  readonly template: 'dentalReception' | 'deliveryTracker';
  readonly instanceName: string;
  /** The steps of its instance, in order. */
  readonly versions: readonly [StepOfInstance, ...StepOfInstance[]];
}

/** A version, and the field values that are given with it. */
export interface StepOfInstance {
  readonly version: number;
  readonly fieldValues: FieldValues;
}

/** This customer upgrades to the newest version. */
const lindenhof: DemoCustomer = {
  name: 'Lindenhof Dental',
  clientEmail: 'reception@lindenhof-dental.example',
  template: 'dentalReception',
  instanceName: 'Front desk',
  versions: [
    {
      version: 1,
      fieldValues: { practice_name: 'Lindenhof Dental', opening_hours: 'Monday to Friday from eight to six' },
    },
    { version: 2, fieldValues: { emergency_number: '+44 20 7946 0145' } },
    { version: 3, fieldValues: { recall_months: '12' } },
  ],
};

/** This customer changes a flow by hand. */
const harbourStreet: DemoCustomer = {
  name: 'Harbour Street Dental',
  clientEmail: 'office@harbour-street.example',
  template: 'dentalReception',
  instanceName: 'Telephone',
  versions: [
    {
      version: 2,
      fieldValues: {
        practice_name: 'Harbour Street Dental',
        opening_hours: 'every weekday from nine to five',
        takes_new_patients: 'false',
        emergency_number: '+44 117 496 0123',
      },
    },
  ],
};

/** This customer keeps the first version. */
const okafor: DemoCustomer = {
  name: 'Dr Okafor and Partners',
  clientEmail: 'desk@okafor-partners.example',
  template: 'dentalReception',
  instanceName: 'Reception',
  versions: [
    {
      version: 1,
      fieldValues: {
        practice_name: 'Dr Okafor and Partners',
        opening_hours: 'Monday to Saturday from half past seven to noon',
        minutes_per_visit: '20',
      },
    },
  ],
};

const kestrel: DemoCustomer = {
  name: 'Kestrel Couriers',
  clientEmail: 'dispatch@kestrel-couriers.example',
  template: 'deliveryTracker',
  instanceName: 'Parcel line',
  versions: [
    { version: 1, fieldValues: { company_name: 'Kestrel Couriers' } },
    { version: 3, fieldValues: { served_postcodes: 'CF10 to CF24 and NP10 to NP20', redelivery_days: '5' } },
  ],
};

/** This customer pastes every postcode that it serves in place of districts. */
const avonValley: DemoCustomer = {
  name: 'Avon Valley Parcels',
  clientEmail: 'service@avon-valley.example',
  template: 'deliveryTracker',
  instanceName: 'Help line',
  versions: [
    { version: 2, fieldValues: { company_name: 'Avon Valley Parcels', redelivery_days: '10' } },
    { version: 3, fieldValues: { served_postcodes: postcodesOf(['BS1', 'BS2', 'BS3', 'BS4', 'BS5', 'BA1', 'BA2']) } },
  ],
};

/** Each customer shows another feature. */
export const demoCustomers = { lindenhof, harbourStreet, okafor, kestrel, avonValley };

/** The greeting after Harbour Street Dental has changed it by hand. */
export const greetingByHand = {
  say: 'Harbour Street Dental, good day! Ring back after lunch if nobody answers.',
  listenFor: ['pain', 'appointment'],
};

export const mainLineOfLindenhof = { name: 'Main line', number: '+44 20 7946 0187', status: 'enabled' };

/** With districts in place of every postcode, Avon Valley's upgrade succeeds. */
export const districtsOfAvonValley = 'BS1 to BS5, BA1 and BA2';
