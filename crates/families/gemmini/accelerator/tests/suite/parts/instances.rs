//! Sizes of hardware, and hardware that cannot be.

use crate::driver::instances::{fp32_4, int8_16, int8_32};
use autocomp_gemmini::GemminiConfig;

#[test]
fn instances_have_the_sizes_of_the_hardware() {
    let c = int8_16();
    assert_eq!(
        (
            c.spad_rows(),
            c.spad_bank_rows(),
            c.acc_rows(),
            c.acc_bank_rows()
        ),
        (16384, 4096, 1024, 512)
    );
    assert_eq!(
        (c.max_block_len(), c.max_block_len_acc(), c.row_bits()),
        (4, 1, 14)
    );
    let c = int8_32();
    assert_eq!(
        (
            c.spad_rows(),
            c.acc_rows(),
            c.max_block_len(),
            c.max_block_len_acc()
        ),
        (8192, 512, 2, 1)
    );
    let c = fp32_4();
    assert_eq!(
        (
            c.spad_rows(),
            c.acc_rows(),
            c.max_block_len(),
            c.max_block_len_acc()
        ),
        (16384, 4096, 4, 4)
    );
    for c in [int8_16(), int8_32(), fp32_4()] {
        assert_eq!(c.validate(), Ok(()));
    }
}

#[test]
fn instances_survive_toml_and_unknown_keys_are_refused() {
    for config in [int8_16(), int8_32(), fp32_4()] {
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<GemminiConfig>(&text).unwrap(), config);
        assert!(toml::from_str::<GemminiConfig>(&format!("dimension = 4\n{text}")).is_err());
    }
}

#[test]
fn impossible_hardware_is_refused_by_key() {
    let base = int8_16();
    let key = |config: GemminiConfig| config.validate().unwrap_err().key;
    assert_eq!(
        key(GemminiConfig {
            dim: 12,
            ..base.clone()
        }),
        "dim"
    );
    assert_eq!(
        key(GemminiConfig {
            spad_banks: 3,
            ..base.clone()
        }),
        "spad_banks"
    );
    assert_eq!(
        key(GemminiConfig {
            acc_kib: 0,
            ..base.clone()
        }),
        "acc_kib"
    );
    assert_eq!(
        key(GemminiConfig {
            mesh_out_bits: 40,
            ..base
        }),
        "mesh_out_bits"
    );
}
