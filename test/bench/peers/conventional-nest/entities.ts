import { Column, DeleteDateColumn, Entity, PrimaryColumn, PrimaryGeneratedColumn } from 'typeorm';

@Entity('api_keys')
export class ApiKey {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ name: 'client_id', type: 'bigint' })
  clientId!: number;

  @Column()
  digest!: string;

  @Column({ name: 'expires_at', type: 'timestamptz', nullable: true })
  expiresAt!: Date | null;

  @Column({ name: 'revoked_at', type: 'timestamptz', nullable: true })
  revokedAt!: Date | null;
}

@Entity('categories')
export class Category {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Column({ nullable: true })
  description?: string;
}

@Entity('pets')
export class Pet {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  name!: string;

  @Column({ name: 'category_id', type: 'bigint' })
  categoryId!: number;

  @Column()
  status!: string;

  @DeleteDateColumn({ name: 'deleted_at', type: 'timestamptz', select: false })
  deletedAt?: Date;
}

@Entity('inventory')
export class Stock {
  @PrimaryColumn({ name: 'pet_id', type: 'bigint' })
  petId!: number;

  @Column()
  quantity!: number;
}

@Entity('orders')
export class Order {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column({ name: 'pet_id', type: 'bigint' })
  petId!: number;

  @Column()
  quantity!: number;

  @Column({ name: 'ship_date', type: 'timestamptz', nullable: true })
  shipDate?: Date;

  @Column()
  complete!: boolean;

  @DeleteDateColumn({ name: 'cancelled_at', type: 'timestamptz', select: false })
  cancelledAt?: Date;
}

@Entity('idempotency_records')
export class IdempotencyRecord {
  @PrimaryColumn({ name: 'owner_id', type: 'bigint' })
  ownerId!: number;

  @PrimaryColumn()
  key!: string;

  @Column()
  fingerprint!: string;

  @Column()
  status!: number;

  @Column()
  body!: string;
}
