//! What the configuration commands have set.

use crate::isa::{Activation, ConfigEx, ConfigLd, ConfigNorm, ConfigSt, Dataflow, PoolFields};

/// State of the store path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoreState {
    /// Activation.
    pub activation: Activation,
    /// Bytes between consecutive rows in DRAM.
    pub stride: u32,
    /// Factor of results leaving the accumulator.
    pub scale: f32,
    /// Pooling.
    pub pool: PoolFields,
}

/// State of the normalisation and activation constants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NormState {
    /// Set of statistics in use, 0 or 1.
    pub stats_id: u8,
    /// Softmax is selected.
    pub act_msb: bool,
    /// ln 2 in fixed point.
    pub qln2: i32,
    /// Its inverse.
    pub qln2_inv: i32,
    /// Linear constant of the polynomial.
    pub qb: i32,
    /// Absolute constant of the polynomial.
    pub qc: i32,
}

/// Configuration in force. What no command has set yet is undefined in
/// hardware; the values here are then those of
/// [`Configured::default`], and the model warns when they are used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Configured {
    /// The array.
    pub ex: ConfigEx,
    /// The three load channels.
    pub load: [ConfigLd; 3],
    /// The store path.
    pub store: StoreState,
    /// Normalisation.
    pub norm: NormState,
    /// Whether a `config_ex` that sets everything has run.
    pub ex_known: bool,
    /// Whether a `config_ld` has run for the channel.
    pub load_known: [bool; 3],
    /// Whether a `config_st` has run.
    pub store_known: bool,
}

impl Default for Configured {
    fn default() -> Self {
        let load = |channel| ConfigLd {
            channel,
            shrink: false,
            pixel_repeats: 1,
            block_stride: 0,
            scale: 1.0,
            stride: 0,
        };
        Self {
            ex: ConfigEx {
                dataflow: Dataflow::WeightStationary,
                activation: Activation::None,
                strides_only: false,
                a_transpose: false,
                b_transpose: false,
                a_stride: 1,
                c_stride: 1,
                acc_scale: 1.0,
                in_shift: 0,
            },
            load: [load(0), load(1), load(2)],
            store: StoreState {
                activation: Activation::None,
                stride: 0,
                scale: 1.0,
                pool: PoolFields::default(),
            },
            norm: NormState::default(),
            ex_known: false,
            load_known: [false; 3],
            store_known: false,
        }
    }
}

impl Configured {
    /// Applies `config_ex`.
    pub fn set_ex(&mut self, command: ConfigEx) {
        if command.strides_only {
            self.ex.a_stride = command.a_stride;
            self.ex.c_stride = command.c_stride;
        } else {
            self.ex = command;
            self.ex_known = true;
        }
    }

    /// Applies `config_ld`, whose channel must exist.
    pub fn set_load(&mut self, command: ConfigLd) {
        let channel = usize::from(command.channel);
        self.load[channel] = command;
        self.load_known[channel] = true;
    }

    /// Applies `config_st`. Pool fields other than size and stride are only
    /// latched while pooling is on.
    pub fn set_store(&mut self, command: ConfigSt) {
        self.store.activation = command.activation;
        self.store.stride = command.stride;
        if let Some(scale) = command.scale {
            self.store.scale = scale;
        }
        if command.pool.stride == 0 {
            self.store.pool.stride = 0;
            self.store.pool.size = command.pool.size;
        } else {
            self.store.pool = command.pool;
        }
        self.store_known = true;
    }

    /// Applies `config_norm`.
    pub fn set_norm(&mut self, command: ConfigNorm) {
        self.norm.stats_id = command.stats_id;
        if command.stats_id_only {
            return;
        }
        if command.q_const_is_inverse {
            self.norm.qln2_inv = command.q_const;
        } else {
            self.norm.qln2 = command.q_const;
        }
        self.norm.act_msb = command.act_msb;
        self.norm.qb = command.qb;
        self.norm.qc = command.qc;
    }
}
