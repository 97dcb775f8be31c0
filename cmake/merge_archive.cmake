# Adds the members of the archive FROM to the archive INTO: cmake -DAR=… -DINTO=… -DFROM=… -DSCRATCH=… -P merge_archive.cmake
file(REMOVE_RECURSE ${SCRATCH})
file(MAKE_DIRECTORY ${SCRATCH})
execute_process(COMMAND ${AR} x ${FROM} WORKING_DIRECTORY ${SCRATCH} COMMAND_ERROR_IS_FATAL ANY)
file(GLOB members ${SCRATCH}/*)
execute_process(COMMAND ${AR} rs ${INTO} ${members} ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(REMOVE_RECURSE ${SCRATCH})
