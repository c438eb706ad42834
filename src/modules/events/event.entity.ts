import { Column, Entity } from 'typeorm';
import { GeneratedId } from '#libs/database';

export const RESOURCES = [
  { schema: 'PetEvent', types: ['pet.created', 'pet.updated', 'pet.deleted'], data: 'StoredPet' },
  {
    schema: 'CategoryEvent',
    types: ['category.created', 'category.updated', 'category.deleted'],
    data: 'Category',
  },
  {
    schema: 'OrderEvent',
    types: ['order.placed', 'order.updated', 'order.completed', 'order.cancelled'],
    data: 'StoredOrder',
  },
  { schema: 'InventoryEvent', types: ['inventory.updated'], data: 'InventoryItem' },
] as const;

export type EventType = (typeof RESOURCES)[number]['types'][number];
export const EVENT_TYPES: readonly EventType[] = RESOURCES.flatMap(({ types }): EventType[] => [...types]);

/** An event in the feed. The feed has the events of one pet in the order in which the pet was changed. */
@Entity('events')
export class EventRow {
  @GeneratedId()
  position!: number;

  @Column({ type: 'timestamptz', default: () => 'clock_timestamp()' })
  time!: Date;

  @Column('uuid')
  id!: string;

  @Column('text')
  type!: EventType;

  @Column({ name: 'pet_id', type: 'bigint', nullable: true })
  petId!: number | null;

  /** The resource as JSON, in the form that GET returned right after the change, or right before a deletion. */
  @Column('text')
  data!: string;
}
