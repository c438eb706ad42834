// All types of events.

export const EVENT_TYPES = [
  'pet.created',
  'pet.updated',
  'pet.deleted',
  'category.created',
  'category.updated',
  'category.deleted',
  'order.placed',
  'order.updated',
  'order.completed',
  'order.cancelled',
  'inventory.updated',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];
