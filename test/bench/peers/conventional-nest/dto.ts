import { PartialType } from '@nestjs/swagger';
import { Transform, Type } from 'class-transformer';
import {
  IsBoolean,
  IsDateString,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  Length,
  Max,
  Min,
  NotEquals,
} from 'class-validator';

export class PageDto {
  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(1)
  @Max(100)
  limit: number = 20;

  @IsOptional()
  @Type(() => Number)
  @IsInt()
  @Min(0)
  cursor: number = 0;
}

export class ListPetsDto extends PageDto {
  @IsOptional()
  @Transform(({ value }) => [value].flat().map(Number))
  @IsInt({ each: true })
  id?: number[];
}

export class CreatePetDto {
  @IsString()
  @Length(1, 200)
  name!: string;

  @IsInt()
  @Min(1)
  categoryId!: number;

  @IsOptional()
  @IsIn(['available', 'pending', 'sold'])
  status?: string;
}

export class UpdatePetDto extends PartialType(CreatePetDto) {}

export class CreateOrderDto {
  @IsInt()
  @Min(1)
  petId!: number;

  @IsOptional()
  @IsInt()
  @Min(1)
  quantity: number = 1;

  @IsOptional()
  @IsDateString()
  shipDate?: string;

  @IsOptional()
  @IsBoolean()
  complete: boolean = false;
}

export class SetStockDto {
  @IsInt()
  @Min(0)
  @Max(2_147_483_647)
  quantity!: number;
}

export class AdjustStockDto {
  @IsInt()
  @NotEquals(0)
  delta!: number;
}
