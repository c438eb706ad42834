import type { PetStatus } from '../pets';

interface SeedPet {
  name: string;
  status?: PetStatus;
}

interface SeedCategory {
  name: string;
  description: string;
  pets: SeedPet[];
}

/** The sample catalogue. */
export const CATALOGUE: readonly SeedCategory[] = [
  {
    name: 'Dogs',
    description: 'Loyal, loud and always hungry.',
    pets: [
      { name: 'Rex' },
      { name: 'Bella' },
      { name: 'Waldo' },
      { name: 'Luna', status: 'pending' },
      { name: 'Bruno' },
    ],
  },
  {
    name: 'Cats',
    description: 'They choose you, not the other way round.',
    pets: [{ name: 'Minka' }, { name: 'Felix' }, { name: 'Salem' }, { name: 'Mochi', status: 'sold' }],
  },
  {
    name: 'Birds',
    description: 'Early risers with a lot to say.',
    pets: [{ name: 'Kiwi' }, { name: 'Pablo' }, { name: 'Coco' }],
  },
  {
    name: 'Fish',
    description: 'Quiet company for a desk or a living room.',
    pets: [{ name: 'Nemo' }, { name: 'Bubbles' }, { name: 'Koi' }, { name: 'Tetra' }],
  },
  {
    name: 'Small animals',
    description: 'Rabbits, hamsters and guinea pigs.',
    pets: [{ name: 'Hazel' }, { name: 'Pip' }, { name: 'Nugget' }, { name: 'Clover' }],
  },
  {
    name: 'Reptiles',
    description: 'Old souls that like it warm.',
    pets: [{ name: 'Spike' }, { name: 'Shelly' }],
  },
];
